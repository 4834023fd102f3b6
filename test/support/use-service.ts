import { createApp } from "../../api/operate/apps.ts";
import { atEndOfRun } from "../../scripts/scene/end-of-run.ts";
import { eventually } from "./eventually.ts";
import { OwnService, type ServiceOptions } from "./own-service.ts";
import { ServiceFixture } from "./service.ts";

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
    if (options.proxy === true) fixture.intercept = null;
  });
  end("stop the service", () => fixture.close());
  end("stop the node", () => fixture.closeNode());
  return fixture;
}

/** How long the service may need to recover from what a test did, in milliseconds. */
const RECOVERY = 60_000;

let starting: Promise<OwnService> | null = null;
/** How many apps got each name. The first one comes with the service. */
const named = new Map([["test", 1]]);

/** One service for the test files of a process, on a node of its own whose chain goes on from file to file. */
async function startShared(): Promise<OwnService> {
  const shared = new OwnService({ node: "own", proxy: true, start: false });
  try {
    await shared.openNode();
    await shared.open();
    await shared.start({ METRICS_PORT: "0" });
  } catch (error) {
    await shared.close();
    await shared.closeNode();
    throw error;
  }
  // After what it needs, such as a database server, has registered its own end: that comes later.
  atEndOfRun(stopShared);
  return shared;
}

/** Stops it, if it runs. The next block that uses it starts a new one. */
async function stopShared(): Promise<void> {
  const shared = await starting;
  starting = null;
  await shared?.close();
  await shared?.closeNode();
}

/** What is wrong with the service, for the block that leaves it; null when the next block can use it. */
async function damageOf({ node, service }: ServiceFixture): Promise<string | null> {
  if ((await node.provider.send("hardhat_getAutomine", [])) !== true) return "the node does not mine by itself";
  const errors = () => service.workers.filter(({ worker }) => worker.lastError !== null);
  const recovered = eventually(() => (errors().length === 0 ? null : undefined), RECOVERY);
  return recovered.catch(() => {
    const failing = errors().map(({ name, worker }) => `${name} (${worker.lastError ?? ""})`);
    return `these workers fail: ${failing.join(", ")}`;
  });
}

/** The shared service, with an app of the block's own. */
export class SharedFixture extends ServiceFixture {
  /** From now on, `api` belongs to a new app: for tests that look at all that an app has. */
  async newApp(): Promise<void> {
    this.parts.app = await createApp(this.service, this.nameFor("test"));
  }

  /** For `useService` only, as the one below. */
  async open(): Promise<void> {
    try {
      this.parts = { ...(await (starting ??= startShared())).parts };
    } catch (error) {
      starting = null;
      throw error;
    }
    await this.newApp();
  }

  /** @throws when the block leaves the service in a state that would fail the tests of the next one. */
  async close(): Promise<void> {
    if (this.parts.service === undefined) return;
    this.intercept = null;
    const damage = await damageOf(this);
    this.parts = {};
    if (damage === null) return;
    await stopShared();
    throw new Error(
      `The tests of this block damaged the service that test files share: ${damage}. Undo it in afterEach, or give the block a service of its own.`,
    );
  }

  /** Earlier blocks may have given apps the same name. */
  protected override nameFor(name: string): string {
    const count = (named.get(name) ?? 0) + 1;
    named.set(name, count);
    return count === 1 ? name : `${name} ${count.toString()}`;
  }
}
