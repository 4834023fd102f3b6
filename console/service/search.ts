import { answerOf } from "../../client/client.ts";
import { ApiRefusal } from "../../client/errors.ts";
import { href } from "../shell/href.ts";
import { client } from "./client.ts";
import { shortHex } from "./format.ts";

/** Something that a text leads to. */
export interface Found {
  kind: string;
  name: string;
  /** What tells it from others with the same name. */
  detail?: string;
  href: string;
}

/** Results of one kind. */
const LIMIT = 5;
/** Longest texts that the API searches for, in characters. */
const [MAX_SEARCH, MAX_REFERENCE] = [64, 256];
const NOT_FOUND = 404;

const ADDRESS = /^0x[0-9a-f]{40}$/;
const TOKEN = /^(0x[0-9a-f]{40})[\s/#,:]+([0-9]{1,78})$/;
const TRANSACTION = /^0x[0-9a-f]{64}$/;
const REQUEST = /^[0-9a-f]{64}$/;

/**
 * What a text names in the app, by at most three calls at a time. What can only be one thing, such as an address, is looked up as that.
 * @param text without space around it, not empty
 */
export async function search(text: string, signal: AbortSignal): Promise<Found[]> {
  const hex = text.toLowerCase();
  if (TRANSACTION.test(hex)) return requests({ transaction_hash: hex }, signal);
  if (REQUEST.test(hex)) return oneRequest(hex, signal);
  const [, address, token] = TOKEN.exec(hex) ?? [];
  if (address !== undefined && token !== undefined) return oneToken(address, token, signal);
  const query = ADDRESS.test(hex) ? { addresses: hex } : { search: text, limit: LIMIT };
  const { length } = Array.from(text);
  const named = length > MAX_SEARCH ? [] : [collections(query, signal), wallets(query, signal)];
  const marked = "addresses" in query || length > MAX_REFERENCE ? [] : [requests({ reference: text }, signal)];
  return (await Promise.all([...named, ...marked])).flat();
}

type Named = { addresses: string } | { search: string; limit: number };

async function collections(query: Named, signal: AbortSignal): Promise<Found[]> {
  const answer = await answerOf(client().GET("/v1/collections", { params: { query }, signal }));
  return answer.collections.map(({ address, name, symbol }) => ({
    kind: "Collection",
    name,
    detail: symbol,
    href: href("/collections/:address", { address }),
  }));
}

async function wallets(query: Named, signal: AbortSignal): Promise<Found[]> {
  const answer = await answerOf(client().GET("/v1/accounts", { params: { query }, signal }));
  return answer.wallets.map(({ address, user_identifier: user }) => ({
    kind: user === null ? "Wallet" : "User",
    name: user ?? "Wallet without a user",
    detail: shortHex(address),
    href: href("/wallets/:address", { address }),
  }));
}

async function requests(query: { transaction_hash: string } | { reference: string }, signal: AbortSignal) {
  const params = { query: { ...query, limit: LIMIT } };
  const answer = await answerOf(client().GET("/v1/requests", { params, signal }));
  return answer.requests.map(requestFound);
}

async function oneRequest(id: string, signal: AbortSignal): Promise<Found[]> {
  const params = { path: { request_id: id } };
  const found = await unlessMissing(answerOf(client().GET("/v1/requests/{request_id}", { params, signal })));
  return found === null ? [] : [requestFound(found)];
}

function requestFound({ request_id, type, status }: { request_id: string; type: string; status: string }): Found {
  return {
    kind: "Request",
    name: `${type}, ${status}`,
    detail: shortHex(request_id),
    href: href("/requests/:request_id", { request_id }),
  };
}

async function oneToken(address: string, id: string, signal: AbortSignal): Promise<Found[]> {
  const params = { path: { address, token_id: id }, query: { limit: 1 } };
  const call = client().GET("/v1/collections/{address}/{token_id}", { params, signal });
  const token = await unlessMissing(answerOf(call));
  if (token === null) return [];
  const found = { address: token.contract_address, token_id: token.token_id };
  return [
    {
      kind: "Token",
      name: token.metadata?.name ?? `Token ${String(token.token_id)}`,
      detail: token.collection_name ?? shortHex(address),
      href: href("/collections/:address/:token_id", found),
    },
  ];
}

/** @returns null when the service has no such thing. */
async function unlessMissing<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiRefusal && error.status === NOT_FOUND) return null;
    throw error;
  }
}
