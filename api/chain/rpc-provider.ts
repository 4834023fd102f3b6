import { JsonRpcProvider, Network } from "ethers";

import { RpcError } from "./errors.ts";

const POLL = 1_000;

/** A connection to a node: an `Rpc` or a `ChainClient`. */
interface Connection {
  call(method: string, params: unknown[]): Promise<unknown>;
}

/**
 * What ethers needs of a node, over a connection whose calls and answers have bounds. By itself, ethers waits five minutes for
 * an answer, and for ever for a node that does not answer at all. Call `destroy` at the end.
 */
export class RpcProvider extends JsonRpcProvider {
  readonly #rpc: Connection;

  /** @param pollingInterval milliseconds between two polls for a new block, while ethers waits for a transaction. */
  constructor(rpc: Connection, chainId: bigint, pollingInterval = POLL) {
    const network = Network.from(chainId);
    // The URL is never called: `send` makes all calls.
    super("http://127.0.0.1", network, {
      staticNetwork: network,
      cacheTimeout: -1,
      polling: true,
      pollingInterval,
    });
    this.#rpc = rpc;
  }

  override async send(method: string, params: unknown[] | Record<string, unknown>): Promise<unknown> {
    const list = Array.isArray(params) ? params : [params];
    try {
      return await this.#rpc.call(method, list);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const { code, message, data } = error;
      throw this.getRpcError(
        { id: 0, jsonrpc: "2.0", method, params: list },
        { id: 0, error: { code, message, data } },
      );
    }
  }
}
