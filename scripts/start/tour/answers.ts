/* What the API answers, as far as the tour uses it. Ignore fields that you do not know: versions may add some. */

/** An integer up to 2^53-1; a decimal string above that. */
export type WireInteger = number | string;

export interface Wallet {
  address: string;
  user_identifier: string | null;
}

/** Answer to everything that ends on the chain. */
export interface Accepted {
  request_id: string;
}

export interface Request {
  request_id: string;
  status: "pending" | "processing" | "completed" | "failed";
  transaction_hash: string | null;
  nft_collection: string | null;
  nft_token_id: WireInteger | null;
  error_code: string | null;
}

export interface Collection {
  address: string;
  name: string;
  mint_supply_count: number | null;
  minted: number;
  seller_fee_basis_points?: number | null;
  fee_recipient?: string | null;
}

/** A token as the wallet that holds it sees it. */
export interface HeldNft {
  contract_address: string;
  token_id: WireInteger;
  /** ERC1155: copies that the wallet has. */
  quantity?: WireInteger;
  metadata: { name?: string } | null;
  unlockable_content: string | null;
}

export interface RegisteredWebhook {
  url: string;
  /** Shown once, when the webhook is first registered. */
  secret: string | null;
}

/** Body of a webhook. */
export interface WebhookEvent {
  id: string;
  type: "sent" | "completed" | "error";
  request_id: string;
  request_type: string;
  transaction_hash: string | null;
  nft_collection?: string;
  nft_token_id?: WireInteger;
  error_code?: string;
}
