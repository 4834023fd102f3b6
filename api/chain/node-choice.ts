import type { NodeWord } from "../domain/conditions.ts";
import type { NodeBehind, NodeDisagrees } from "./errors.ts";

/** How a node of `RPC_URLS` is, as far as this process knows. */
export interface NodeState {
  /** Its place in `RPC_URLS`, from 1. Two nodes may have the same host. */
  number: number;
  host: string;
  word: NodeWord;
  /** Its newest block; null: it has not said. */
  head: number | null;
  /** Seconds that its last answer took; null: it has not answered. */
  latency: number | null;
  /** Failed HTTP requests since the start of this process. */
  failures: number;
  /** Whether signed transactions are sent to it. */
  sends: boolean;
  /** Why it is not used; null: it is used. It never contains the URL. */
  problem: string | null;
}

/** How the nodes are for one thread. */
export interface NodesState {
  /** Empty with one node. */
  states: readonly NodeState[];
  /** The height about which they disagree; null: they agree. */
  disagreement: number | null;
  /** Whether the provider of the only node limits the rate of calls now. Several nodes say so in their states. */
  isLimited: boolean;
}

/** What one node says when several are asked the same. */
export interface NodeVote<T> {
  /** Its place in the list, from 1. */
  node: number;
  /** Null: it does not answer. */
  answer: T | null;
  /** Whether it was outvoted. Then it does not count until it has agreed for some time. */
  outvoted: boolean;
}

/** Who is asked: every node that answers, those but the one that is read, or of these only the ones that work (`up`). */
export type Voters = "all" | "others" | "working others";

/** What nodes may contradict each other about while the work goes on. */
export type Difference = "costs" | "fees" | "gas";

/** Which node answers. With one node it always does, and nothing here makes a call. */
export interface NodeChoice {
  /** How many nodes the settings name. */
  readonly count: number;
  /** How many of them must agree about a block before it is final (`RPC_AGREEMENT`). 1: all that answer. */
  readonly agreement: number;
  /** The node that is read now: its place in the list, from 1. */
  readonly number: number;
  /** Where the operator set that node, for messages. */
  readonly where: string;
  /**
   * Work whose answers belong together: one node answers all of its calls. When that node fails, the whole work is done again
   * with the next one, so it must be safe to do it twice. Inside of another session, the node stays the same.
   */
  session<T>(work: () => Promise<T>): Promise<T>;
  /** Continues a session: all calls go to this node, and nothing is done again. */
  within<T>(node: number, work: () => Promise<T>): Promise<T>;
  /** Whether work that failed on a node with this error can be done again with another node now. */
  canMoveOn(error: unknown): boolean;
  /** Whether another node has this height. */
  isAnotherAt(height: number): Promise<boolean>;
  /** Asks several nodes at the same time. */
  vote<T>(work: () => Promise<T | null>, voters: Voters): Promise<NodeVote<T>[]>;
  /** The others outvoted these nodes about a block: they are not read until `reinstate`, and their word does not count. */
  outvote(nodes: readonly number[], height: number): void;
  /** Nodes that were outvoted and have not contradicted for some time, with the lowest block about which they were outvoted. */
  readonly outvoted: readonly { node: number; height: number }[];
  /** They agree again. */
  reinstate(nodes: readonly number[]): void;
  /** This process no longer compares blocks: outvoted nodes may be read again. */
  forgetVotes(): void;
  /** These nodes do not agree about a block, and there is no majority. */
  disagree(height: number, nodes: readonly number[]): void;
  /** The node that is read now is behind, or its answer is wrong. If there are others, it is not read for a while. @throws the error */
  skip(error: NodeBehind | NodeDisagrees): never;
  /** Runs a question on each node that answers, and gives the answers of all of them. At least one. @throws as the last one did */
  each<T>(work: () => Promise<T>): Promise<T[]>;
  /** Asks another working node the same question, as a second opinion. Null: no other node answers. */
  second<T>(work: () => Promise<T>): Promise<T | null>;
  /**
   * The gas price that the node that is read now names. If it is more than twice the price of another node from the last minute,
   * all nodes are asked, and the median counts (of two prices the lower one). So one node alone cannot spend the funds of the
   * lanes.
   */
  price(work: () => Promise<bigint>): Promise<bigint>;
  /** Logs, once a minute, that the nodes contradict each other about something that does not stop the work. */
  differ(about: Difference, fields: object): void;
  /** Empty with one node. */
  states(): NodeState[];
  /** The states after every node was asked for its newest block. Empty with one node. */
  examine(): Promise<NodeState[]>;
  /** The height about which the nodes disagreed in the last minute, or about which a node was outvoted; null: they agree. */
  readonly disagreement: number | null;
}

function noOther(): never {
  throw new Error("with one node there is no other");
}

/** The choice where there is none. */
export const ONE_NODE: NodeChoice = {
  count: 1,
  agreement: 1,
  number: 1,
  where: "RPC_URL",
  session: (work) => work(),
  within: (_node, work) => work(),
  canMoveOn: () => false,
  isAnotherAt: () => Promise.resolve(false),
  vote: () => Promise.resolve([]),
  outvote: noOther,
  outvoted: [],
  reinstate: () => undefined,
  forgetVotes: () => undefined,
  disagree: noOther,
  skip: (error) => {
    throw error;
  },
  each: async (work) => [await work()],
  second: () => Promise.resolve(null),
  price: (work) => work(),
  differ: noOther,
  states: () => [],
  examine: () => Promise.resolve([]),
  disagreement: null,
};
