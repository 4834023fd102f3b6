import { anvilBinary } from "../../scripts/scene/anvil.ts";
import { startAnvil, type TestNode } from "./node.ts";

/** Gives the tests of a `describe` block an Anvil with blocks once a second. On a machine without Anvil they are skipped. */
export function useAnvil(...options: Parameters<typeof startAnvil>): Pick<TestNode, "url" | "provider"> {
  let node: TestNode | null = null;
  before("start Anvil", async function () {
    if (anvilBinary() === null) this.skip();
    node = await startAnvil(...options);
  });
  after("stop Anvil", () => node?.stop());
  const started = () => {
    if (node === null) throw new Error("Anvil runs only while tests run.");
    return node;
  };
  return {
    get url() {
      return started().url;
    },
    get provider() {
      return started().provider;
    },
  };
}
