import { setTimeout as wait } from "node:timers/promises";

import { type Exchange, NodeProxy } from "../../scene/rpc-proxy.ts";

/** Selectors of `tokenURI` and `uri`. */
const URI_CALL = /c87b56dd|0e89341c/;

/** A proxy in front of a node, which counts the calls. */
export class CountingNode extends NodeProxy {
  /** By method. */
  calls = new Map<string, number>();
  /** HTTP requests that ask a contract for URIs of tokens. */
  uris = 0;

  readonly #slow: number;

  private constructor(target: string, slow: number) {
    super(target);
    this.#slow = slow;
  }

  /** @param slow milliseconds more that each search for logs takes. */
  static start(target: string, slow: number): Promise<CountingNode> {
    return new CountingNode(target, slow).listen();
  }

  protected async handle(exchange: Exchange): Promise<void> {
    for (const { method } of exchange.calls) this.calls.set(method, (this.calls.get(method) ?? 0) + 1);
    if (URI_CALL.test(exchange.body)) this.uris += 1;
    if (exchange.calls.some(({ method }) => method === "eth_getLogs")) await wait(this.#slow);
    await this.pass(exchange);
  }
}
