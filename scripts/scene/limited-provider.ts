import { type Exchange, NodeProxy, postToNode, type ProxiedCall } from "./rpc-proxy.ts";

/** Limits as providers of nodes set them. An absent one does not apply. */
export interface ProviderLimits {
  /** Blocks in one log query. */
  blocks?: number;
  /** Addresses in one log query. */
  addresses?: number;
  /** Logs that one query may find. */
  results?: number;
  /** Calls in one HTTP request. */
  batch?: number;
  /** Calls in one second; every call of a batch counts. */
  callsPerSecond?: number;
}

interface Query {
  address?: string | string[];
  fromBlock?: string;
  toBlock?: string;
  blockHash?: string;
}

interface RpcFailure {
  code: number;
  message: string;
}

/** A proxy in front of a real node that refuses what a provider refuses, in the words of known providers. */
export class LimitedProvider extends NodeProxy {
  limits: ProviderLimits;
  /** How often each limit refused something. */
  readonly refused = { blocks: 0, addresses: 0, results: 0, batch: 0, rate: 0 };
  /** Largest log query that was answered. */
  readonly answered = { blocks: 0, addresses: 0 };
  #second = 0;
  #calls = 0;

  private constructor(target: string, limits: ProviderLimits) {
    super(target);
    this.limits = limits;
  }

  static start(target: string, limits: ProviderLimits): Promise<LimitedProvider> {
    return new LimitedProvider(target, limits).listen();
  }

  get refusals(): number {
    return Object.values(this.refused).reduce((sum, count) => sum + count, 0);
  }

  protected async handle({ calls, response, answer, refuse }: Exchange): Promise<void> {
    const { batch } = this.limits;
    if (batch !== undefined && calls.length > batch) {
      this.refused.batch += 1;
      // Geth's words.
      refuse({ code: -32_600, message: "batch too large" });
      return;
    }
    if (this.#exceedsRate(calls.length)) {
      this.refused.rate += 1;
      response.writeHead(429, { "retry-after": "1" }).end("Too Many Requests");
      return;
    }
    answer(await Promise.all(calls.map((call) => this.#answer(call))));
  }

  #exceedsRate(calls: number): boolean {
    const { callsPerSecond } = this.limits;
    if (callsPerSecond === undefined) return false;
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) [this.#second, this.#calls] = [second, 0];
    this.#calls += calls;
    return this.#calls > callsPerSecond;
  }

  async #answer(call: ProxiedCall): Promise<object> {
    const query = call.method === "eth_getLogs" ? (call.params[0] as Query) : null;
    const refusal = query === null ? null : this.#refusal(query);
    if (refusal !== null) return { jsonrpc: "2.0", id: call.id, error: refusal };
    const answer = await postToNode(this.target, JSON.stringify(call));
    const json = (await answer.json()) as { result?: unknown[] };
    if (query === null) return json;
    const { results = Infinity } = this.limits;
    if ((json.result?.length ?? 0) > results) {
      this.refused.results += 1;
      // Infura's words.
      const message = `query returned more than ${results.toString()} results. Try with this block range [0x0, 0x1].`;
      return { jsonrpc: "2.0", id: call.id, error: { code: -32_005, message } };
    }
    this.answered.blocks = Math.max(this.answered.blocks, blocksOf(query));
    this.answered.addresses = Math.max(this.answered.addresses, addressesOf(query));
    return json;
  }

  #refusal(query: Query): RpcFailure | null {
    const { blocks = Infinity, addresses = Infinity } = this.limits;
    if (blocksOf(query) > blocks) {
      this.refused.blocks += 1;
      // Alchemy's words.
      const message = `Under the Free tier plan, you can make eth_getLogs requests with up to a ${blocks.toString()} block range.`;
      return { code: -32_600, message };
    }
    if (addressesOf(query) > addresses) {
      this.refused.addresses += 1;
      // Geth's words.
      return { code: -32_602, message: "exceed max addresses or topics per search position" };
    }
    return null;
  }
}

function blocksOf({ fromBlock, toBlock, blockHash }: Query): number {
  return blockHash === undefined ? Number(toBlock) - Number(fromBlock) + 1 : 1;
}

function addressesOf({ address }: Query): number {
  if (address === undefined) return 0;
  return Array.isArray(address) ? address.length : 1;
}
