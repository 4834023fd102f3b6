import { OwnService, type ServiceOptions } from "./own-service.ts";
import { SharedFixture } from "./shared-service.ts";

/**
 * Gives the tests of a `describe` block a service on a real node, and an app that calls it. Registers the hooks for set-up and
 * tear-down itself.
 *
 * Without options it is the service that all test files of the process share. Its chain and its database have what earlier
 * blocks left, so a test asserts on what belongs to its app, or on what changed since it began. With options it is a service
 * of the block's own: a comment says why it needs one.
 */
export function useService(): SharedFixture;
export function useService(options: ServiceOptions): OwnService;
export function useService(options?: ServiceOptions): SharedFixture | OwnService {
  return options === undefined ? useSharedService() : useOwnService(options);
}

function useSharedService(): SharedFixture {
  const fixture = new SharedFixture();
  before("use the shared service", () => fixture.open());
  afterEach("let the node answer again", () => {
    fixture.intercept = null;
  });
  after("check the shared service", () => fixture.close());
  return fixture;
}

function useOwnService(options: ServiceOptions): OwnService {
  const fixture = new OwnService(options);
  const [begin, end] = options.per === "test" ? [beforeEach, afterEach] : [before, after];
  begin("start a node", () => fixture.openNode());
  begin("start the service", () => fixture.open());
  afterEach("let the node answer again", () => {
    fixture.afterTest();
  });
  end("stop the service", () => fixture.close());
  end("stop the node", () => fixture.closeNode());
  return fixture;
}
