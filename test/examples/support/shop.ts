import { join } from "node:path";

import { freePort } from "../../../scripts/scene/loopback.ts";
import { temporaryFolder, type TemporaryFolder } from "../../support/folder.ts";
import { TestProcess } from "../../support/process.ts";
import type { ServiceFixture } from "../../support/service.ts";

/** The arguments for Node, as in `npm run example`. */
export const SHOP = ["--import", "./scripts/setup/client-source.mjs", "examples/shop/main.ts"];

/** Gives the tests of a `describe` block the example shop in a process of its own, as `npm run example` starts it. */
export function useShop(moneta: ServiceFixture): ShopFixture {
  const fixture = new ShopFixture(moneta);
  before("open the shop", async () => {
    fixture.folder = await temporaryFolder();
    fixture.port = await freePort();
    await fixture.open();
  });
  after("close the shop", async () => {
    await fixture.process.end("SIGKILL");
    await fixture.folder?.remove();
  });
  return fixture;
}

class ShopFixture {
  port = 0;
  folder: TemporaryFolder | null = null;
  readonly #moneta: ServiceFixture;
  #process: TestProcess | null = null;

  constructor(moneta: ServiceFixture) {
    this.#moneta = moneta;
  }

  get url(): string {
    return `http://localhost:${this.port.toString()}`;
  }

  get dataFolder(): string {
    return join(this.folder?.path ?? "", "shop");
  }

  get env(): Record<string, string> {
    return {
      MONETA_URL: this.#moneta.baseUrl,
      MONETA_TOKEN: this.#moneta.app.token,
      SHOP_PORT: this.port.toString(),
      SHOP_DATA: this.dataFolder,
    };
  }

  get process(): TestProcess {
    if (this.#process === null) throw new Error("The shop is not open.");
    return this.#process;
  }

  async open(): Promise<void> {
    this.#process = new TestProcess(SHOP, this.env);
    await this.#process.printed(/The shop is open/);
  }
}
