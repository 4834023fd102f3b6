import type { NodeWord } from "../domain/conditions.ts";
import type { NodeDisagrees } from "./errors.ts";

/** How a node of `RPC_URLS` is, as far as this thread knows. */
export interface NodeState {
  /** Its place in `RPC_URLS`, from 1. Two nodes may have the same host. */
  number: number;
  host: string;
  word: NodeWord;
  /** Its newest block; null: it has not said. */
  head: number | null;
  /** Seconds since it named its newest block; null: it has not. */
  headAge: number | null;
  /** Seconds that its last answer took; null: it has not answered. */
  latency: number | null;
  /** Failed HTTP requests since the start of this thread. */
  failures: number;
  /** Whether signed transactions are sent to it. */
  sends: boolean;
  /** Why it is not used; null: it is used. It never contains the URL. */
  problem: string | null;
}

/** What the nodes say about a stored block. */
export interface BlockVotes {
  /** Nodes that have the stored block, without the one that is read now. */
  same: number;
  /** Nodes that have another block at its height, without the one that is read now. */
  other: number;
  /** Whether the node that is read now was outvoted, and has not agreed since. */
  outvoted: boolean;
}

/** Which node answers. With one node it always does, and nothing here makes a call. */
export interface NodeChoice {
  /** How many nodes the settings name. */
  readonly count: number;
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
  /** Whether work that a node failed with this error can be done with another node now. */
  canMoveOn(error: unknown): boolean;
  /** Whether another node has this height. */
  isAnotherAt(height: number): Promise<boolean>;
  /** Asks the other nodes for their block at a height. */
  votesOn(height: number, hash: string): Promise<BlockVotes>;
  /** The node that is read now is behind the database: it is not read until it is not. @throws NodeBehind */
  skipBehind(head: number, checkpoint: number): never;
  /** The node that is read now was outvoted about a block: it is not read for a while. @throws NodeDisagrees */
  putAside(height: number): never;
  /** An answer of the node that is read now is wrong: with others, it is not read for a while. @throws the error */
  distrust(error: NodeDisagrees): never;
  /** The node that is read now has the block that is stored. */
  agrees(): void;
  /** The nodes do not agree about a block, and there is no majority. */
  disagree(height: number): void;
  /** Runs a question on each node that answers, and gives the answers of all of them. At least one. @throws as the last one did */
  each<T>(work: () => Promise<T>): Promise<T[]>;
  /** Asks another node that works what the one that is read now has said. Null: there is none that answers. */
  second<T>(work: () => Promise<T>): Promise<T | null>;
  /** Empty with one node. */
  states(): NodeState[];
  /** The states after every node was asked for its newest block. Empty with one node. */
  examine(): Promise<NodeState[]>;
  /** The height about which the nodes disagreed in the last minute; null: they agree. */
  readonly disagreement: number | null;
}

function noOther(): never {
  throw new Error("with one node there is no other");
}

/** The choice where there is none. */
export const ONE_NODE: NodeChoice = {
  count: 1,
  number: 1,
  where: "RPC_URL",
  session: (work) => work(),
  within: (_node, work) => work(),
  canMoveOn: () => false,
  isAnotherAt: () => Promise.resolve(false),
  votesOn: () => Promise.resolve({ same: 0, other: 0, outvoted: false }),
  skipBehind: noOther,
  putAside: noOther,
  distrust: (error) => {
    throw error;
  },
  agrees: () => undefined,
  disagree: () => undefined,
  each: async (work) => [await work()],
  second: () => Promise.resolve(null),
  states: () => [],
  examine: () => Promise.resolve([]),
  disagreement: null,
};
