import type { Generated, Selectable } from "kysely";

import type { CollectionType } from "../../domain/command.ts";
import type { ContractState, QuarantineReason } from "../../domain/followed-contract.ts";

/** The tables about contracts that the service did not deploy. The conventions are those of `Tables`. */
export interface ContractTables {
  foreign_contracts: {
    address: string;
    /** null while it is not known. */
    type: CollectionType | null;
    name: string | null;
    state: ContractState;
    /** Why it is quarantined. */
    reason: QuarantineReason | null;
    /** When it is asked for its type, read further, its quarantine ends, or its row is deleted (unsupported); null when nothing is to come. */
    due_at: number | null;
    /** Last block whose logs are stored, before its quarantine or while its past is read; null while the logs of all blocks are read. */
    as_of: number | null;
    /** Reads that failed one after the other; before its type is known, or while it is in quarantine, also tries to ask it. */
    failures: number;
    /** Quarantines without a long time of good behaviour in between. */
    quarantines: number;
    /** When the last quarantine ended. */
    released_at: number | null;
    /** Transfer logs since the block `window_from`, for noticing a flood. */
    window_from: number;
    window_logs: number;
    created_at: number;
  };

  /** The times in which apps follow contracts. An app follows what it has adopted for good. */
  contract_follows: {
    seq: Generated<number>;
    app_id: string;
    address: string;
    /** The app's wallets get what happens from the block after this one on. */
    followed_from: number;
    /** Last block of a time that is over; null while the app follows the contract. */
    ended_at: number | null;
    created_at: number;
  };

  /** How the service mints into an adopted contract. */
  minting: {
    contract: string;
    /** See `api/chain/codec/mint-function.ts`. Empty: minting is switched off. */
    mint_function: string;
    /** What the contract was when minting was switched on (see `MintingFacts`). Before that: only its owner, when it was adopted. */
    code_hash: string;
    implementation: string | null;
    owner: string;
    /** Why nothing is minted any more until the operator confirms it again; null: it is minted. */
    stopped: string | null;
    created_at: number;
  };

  /** A wallet's tokens of a foreign contract, read from the chain in the background. */
  contract_reads: {
    contract: string;
    owner: string;
    /** The app of the wallet. */
    app_id: string;
    /** The search for tokens that the wallet received before: 0: nobody asked for it. 1: to be done. 2: done. */
    search: 0 | 1 | 2;
    /** Block as of which the stored tokens were complete when they last were; null: never. */
    complete_to: number | null;
    /** When the next read is due; null when nothing is to be read. */
    due_at: number | null;
    /** Tries that failed, and the one that is under way. */
    tries: number;
    /** Fencing token: grows each time the read is taken. */
    fence: number;
  };

  /** Reads of an app in a minute. */
  read_rates: {
    app_id: string;
    /** Minutes since 1970. */
    minute: number;
    used: number;
  };

  /** Balances in foreign contracts to read again: after a reorg, or because they could not be read. */
  uncertain_holdings: {
    contract: string;
    token_id: string;
    owner: string;
    /** The balance must be read at this block or later. */
    block: number;
  };
}

export type ForeignContractRow = Selectable<ContractTables["foreign_contracts"]>;
