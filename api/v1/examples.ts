import { ADOPTION_TYPES } from "../chain/adoptable.ts";

/* Example answers for the document. Tests check each one against its schema. */

export const ALICE = "0xb397c4963fD6353BE8AFf923B86c0b34f1b77F06";
export const BOB = "0x2f3B2C0dE42f14db88301Ba6fB4a159D7621aa5e";
export const COLLECTION = "0xA487a7aD5Dd6B34eD3732D495181d4FA70946C60";
export const REQUEST_ID = "574bfd5d4da4e880ccb709ee7dacd6cfa197055bc0fad76c835183ab77bf61ee";
/** Of a call that has one, and of its request. */
export const REFERENCE = "order-1042";
const TRANSACTION = "0x7d6a5b5c38d7845a43b37ce66ef449eb09ab00952fdde8b1cdc804739fd1b7a0";
const TIME = "2026-05-04T10:15:30.000Z";

export const acceptedExample = { request_id: REQUEST_ID };

export const consoleSessionExample = {
  session_id: "8c1d4b7e-2f3a-4c59-9b60-1d7e5a9f0c32",
  kind: "app" as const,
  app: { app_id: "3f0c8a51-6f0e-4d7e-9d0a-4f1f0f0f8a11", name: "my-shop" },
  scopes: ["read" as const, "mint" as const],
  created_at: TIME,
  expires_at: "2026-05-11T10:15:30.000Z",
  chain_id: 1,
  explorer_url: "https://etherscan.io",
  public_url: "https://nft.example",
};

export const walletExample = { address: ALICE, user_identifier: "alice", watch_only: false };

export const exportedWalletExample = { user_identifier: "alice", address: ALICE, created_at: TIME, watch_only: false };

export const exportedHoldingExample = {
  user_identifier: "alice",
  address: ALICE,
  token_id: 12,
  quantity: 1,
  since_block: 20_999_900,
  final: true,
};

export const collectionExample = {
  address: COLLECTION,
  type: "ERC721" as const,
  name: "Cats",
  symbol: "CAT",
  hosting: "hosted" as const,
  mint_supply_count: 1000,
  soulbound: false,
  minted: 12,
  metadata_frozen: "no" as const,
  royalty_frozen: false,
  verified: "implementation" as const,
  owner: ALICE,
  collection_uri: `https://nft.example/metadata/1/${COLLECTION}`,
  description: "A thousand cats",
  image: "https://cats.example/all.png",
  external_link: "https://cats.example",
  seller_fee_basis_points: 500,
  fee_recipient: ALICE,
  adopted: null,
  request_id: REQUEST_ID,
  created_at: TIME,
};

const nftExample = {
  contract_address: COLLECTION,
  collection_name: "Cats",
  type: "ERC721" as const,
  token_id: 12,
  token_uri: `https://nft.example/metadata/1/${COLLECTION}/12`,
  metadata: { name: "Cat 12", image: "https://cats.example/12.png", attributes: [{ trait_type: "fur", value: "red" }] },
  minted_at: TIME,
  final: true,
};

export const collectionNftExample = { ...nftExample, owner: ALICE };

export const heldNftExample = { ...nftExample, unlockable_content: "The cat sleeps in the attic." };

export const historyExample = {
  type: "transfer" as const,
  contract_address: COLLECTION,
  token_id: 12,
  quantity: 1,
  from_address: ALICE,
  to_address: BOB,
  transaction_hash: TRANSACTION,
  block_number: 21_000_000,
  timestamp: TIME,
  request_id: REQUEST_ID,
  final: true,
};

export const requestExample = {
  request_id: REQUEST_ID,
  type: "mint" as const,
  status: "completed" as const,
  waiting_for: null,
  reference: REFERENCE,
  nft_collection: COLLECTION,
  nft_token_id: 12,
  contract_address: COLLECTION,
  token_id: 12,
  quantity: 1,
  from_address: null,
  to_address: ALICE,
  from_user: null,
  to_user: "alice",
  transaction_hash: TRANSACTION,
  block_number: 21_000_000,
  gas_used: 61_204,
  fee_wei: "122408000000000",
  error_code: null,
  error_message: null,
  errors: null,
  retry_of: null,
  retried_by: null,
  created_at: TIME,
  updated_at: TIME,
};

const CID = "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy";

export const uploadedMediaExample = { uri: `ipfs://${CID}`, cid: CID, type: "image/png", bytes: 48_213 };

const usageOfDay = {
  requests_accepted: 120,
  requests_completed: 118,
  requests_failed: 2,
  gas_used: 7_344_480,
  fee_wei: "14688960000000000",
  media_bytes: 5_242_880,
  wallets_created: 3,
};

export const usageExample = {
  from: "2026-05-04",
  to: "2026-05-04",
  total: usageOfDay,
  days: [{ date: "2026-05-04", ...usageOfDay }],
  quotas: {
    media_bytes: { used: 5_242_880, limit: 1_073_741_824 },
    media_requests: { used: 2, limit: null },
    wallets: { used: 3, limit: 10_000 },
    stored_bytes: { used: 61_440, limit: 1_000_000_000 },
    collections: { used: 2, limit: 200 },
    mints: { used: 118, limit: null },
    api_tokens: { used: 1, limit: 100 },
  },
};

export const webhookExample = {
  id: "4c0f6d7e-1a55-4c36-9a7e-2f8d1b3c5e60",
  url: "https://app.example/hooks/nft",
  events: null,
  collections: null,
  description: null,
  disabled_at: null,
  last_error: null,
  created_at: TIME,
  updated_at: TIME,
};

export const contractExample = {
  address: COLLECTION,
  type: "ERC721" as const,
  name: "Elsewhere",
  state: "quarantined" as const,
  reason: "flood" as const,
  as_of_block: 21_000_000,
  until: TIME,
  followed_at: TIME,
};

/** The frame of a page with one item. */
export const pageExample = { total: 1, limit: 30, offset: 0, next: null };

export const eventExample = {
  id: "0e2f6c0e-8a3f-4d4c-9a55-0d6c1b7f2a10",
  type: "completed" as const,
  request_id: REQUEST_ID,
  request_type: "mint" as const,
  reference: REFERENCE,
  transaction_hash: TRANSACTION,
  nft_collection: COLLECTION,
  nft_token_id: 12,
  created_at: TIME,
};

export const tokenEventExample = {
  id: "0e2f6c0f-1b57-7d0a-8c21-5a9e0d6f3b44",
  type: "token.sent" as const,
  request_id: null,
  contract_address: COLLECTION,
  token_id: 12,
  quantity: 1,
  from_address: ALICE,
  to_address: BOB,
  from_user: "alice",
  to_user: null,
  transaction_hash: TRANSACTION,
  block_number: 5_120_031,
  block_time: TIME,
  log_index: 4,
  batch_index: 0,
  created_at: TIME,
};

export const testEventExample = {
  id: "6f1d2b77-54a1-4f0e-8f0c-3c1f0c9e7b52",
  type: "test" as const,
  request_id: null,
  request_type: null,
  transaction_hash: null,
  created_at: TIME,
};

export const deliveryExample = {
  id: "a7c1f0de-22f4-4c8a-bb6e-5b1c3f0d9e44",
  webhook_id: webhookExample.id,
  event_id: eventExample.id,
  event_type: eventExample.type,
  request_id: eventExample.request_id,
  status: "pending" as const,
  attempts: 1,
  next_attempt_at: "2026-05-04T10:15:35.000Z",
  response_status: 503,
  response_body: "down for maintenance",
  error: "the receiver answered 503",
  created_at: TIME,
  updated_at: TIME,
};

export const testDeliveryExample = {
  ...deliveryExample,
  event_id: testEventExample.id,
  event_type: testEventExample.type,
  request_id: null,
  attempts: 0,
  next_attempt_at: TIME,
  response_status: null,
  response_body: null,
  error: null,
};

export const rotatedSecretExample = {
  secret: "whsec_Xb1wq8mQ0q0Pq2rM0eHc3V6oYk7nTz5d",
  previous_expires_at: "2026-05-05T10:15:30.000Z",
};

export const tokenExample = {
  token_id: "0b9f2c4e-8f43-4f0e-9c1d-6a5b3e7d2f10",
  name: "shop",
  scopes: ["read", "mint"],
  rate_limit_per_minute: 60,
  created_at: TIME,
  expires_at: "2026-08-02T10:15:30.000Z",
  revoked_at: null,
};

export const newTokenExample = { ...tokenExample, token: "moneta_Hq3hWcT5xkq0kG0yZ0nqk0w9mJt2uYp7bVx1sLr4aEc" };

export const revokedTokenExample = { ...tokenExample, revoked_at: "2026-05-05T08:00:00.000Z" };

export const adoptedExample = {
  ...collectionExample,
  hosting: "self-hosted" as const,
  base_uri: null,
  adopted: {
    state: "reading" as const,
    as_of_block: 18_400_000,
    to_block: 21_000_000,
    total_supply: "10000",
    rescue: null,
    minting: null,
  },
  request_id: null,
};

export const adoptionTextExample = {
  types: {
    EIP712Domain: [
      { name: "name", type: "string" },
      { name: "version", type: "string" },
      { name: "chainId", type: "uint256" },
      { name: "verifyingContract", type: "address" },
    ],
    ...ADOPTION_TYPES,
  },
  primaryType: "AdoptCollection",
  domain: { name: "Moneta", version: "1", chainId: "0x1", verifyingContract: BOB },
  message: {
    contract: COLLECTION,
    app: "5d1f3c52-7c7e-7b2a-9d0e-0a4c8f1b2e63",
    relay: BOB,
    nonce: `0x${"5f".repeat(32)}`,
    expiry: "1767225600",
  },
};
