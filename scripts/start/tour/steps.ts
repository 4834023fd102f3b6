import { answerOf, type Client, type Shape } from "../../../client/client.ts";
import type { CompletedRequest, RequestType } from "../../../client/wait.ts";
import { Problem } from "../problem.ts";
import { withOutsideAccount } from "./outside-account.ts";
import { cat, CATS, dataUri, gem, SVG_TYPE } from "./pictures.ts";
import type { Report } from "./report.ts";
import type { WebhookReceiver } from "./webhook-receiver.ts";

type Metadata = Shape<"TokenMetadata">;

/** What every step uses. */
export interface Tour {
  /** URL of the service. */
  baseUrl: string;
  api: Client;
  webhooks: WebhookReceiver;
  report: Report;
  /** Ids of the completed requests. */
  requests: string[];
  /** The chain node, for transactions that bypass the service. */
  rpcUrl: string;
  /** Aborted when the program stops. */
  signal: AbortSignal;
}

/** Addresses of two users' wallets. */
export interface Wallets {
  alice: string;
  bob: string;
}

const CAP = 150;
const ROYALTY_BASIS_POINTS = 500;
const GEM = 7;
const MINTS = 100;
/** How many share a transaction depends on how fast calls arrive and blocks come. More transactions than this are a failure. */
const MOST_TRANSACTIONS = MINTS / 2;
/** The token of an outside contract. */
const OUTSIDE = 42;
/**
 * Milliseconds to wait for a delivery. A call whose connection is lost has 15 seconds for its answer, and is made again 5 seconds
 * later: the tour waits for the second try as well.
 */
const DELIVERY_MS = 45_000;

/** @throws Problem with the text, unless the condition holds. */
function check(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Problem(`The tour failed: ${otherwise}.`);
}

/** Waits until the request of an accepted call is completed, and reports it. */
async function complete<Type extends RequestType>(
  { api, requests, report, signal }: Tour,
  type: Type,
  call: Promise<{ data?: Shape<"Accepted">; error?: unknown; response: Response }>,
): Promise<CompletedRequest<Type>> {
  const { request_id: requestId } = await answerOf(call);
  const completed = await api.waitFor(requestId, { type, signal });
  requests.push(requestId);
  report.completed([completed]);
  return completed;
}

/** A token as a wallet that holds it sees it; undefined when the wallet does not hold it. */
async function held({ api }: Tour, wallet: string, contract: string, tokenId: number) {
  const path = { address: wallet, contract_address: contract, token_id: tokenId };
  const call = api.GET("/v1/accounts/{address}/{contract_address}/{token_id}", { params: { path } });
  return (await answerOf(call)).nfts[0];
}

export async function registerWebhook({ api, webhooks, report }: Tour): Promise<void> {
  report.step("Register a webhook");
  const { secret } = await answerOf(api.PUT("/v1/webhook", { body: { url: webhooks.url } }));
  check(secret !== null, "the API returned no signing secret");
  webhooks.trust(secret);
  report.line(`events go to ${webhooks.url}; the API returned the signing secret, once`);
}

/** Creating a wallet needs no transaction, so the address is returned at once. */
export async function createWallets({ api, report }: Tour): Promise<Wallets> {
  report.step("Create two wallets");
  const alice = await answerOf(api.POST("/v1/accounts", { body: { user_identifier: "tour-alice" } }));
  const bob = await answerOf(api.POST("/v1/accounts", { body: { user_identifier: "tour-bob" } }));
  const path = { user_identifier: "tour-alice" };
  const found = await answerOf(api.GET("/v1/accounts/user/{user_identifier}", { params: { path } }));
  check(found.address === alice.address, "looking up tour-alice returned another address");
  report.line(`tour-alice ${alice.address}`);
  report.line(`tour-bob   ${bob.address}`);
  return { alice: alice.address, bob: bob.address };
}

async function upload({ api }: Tour, svg: string): Promise<string> {
  return (await api.uploadMedia(new Blob([svg], { type: SVG_TYPE }))).uri;
}

/** @returns the address of the collection. */
export async function createErc721(tour: Tour, { alice }: Wallets): Promise<string> {
  const { api, report } = tour;
  report.step(`Create a hosted ERC721 collection: at most ${CAP} tokens, ${ROYALTY_BASIS_POINTS / 100} % royalties`);
  const expected = {
    image: await upload(tour, cat(0).svg),
    mint_supply_count: CAP,
    seller_fee_basis_points: ROYALTY_BASIS_POINTS,
    fee_recipient: alice,
  };
  const body = { type: "ERC721", name: "Tour Cats", symbol: "CATS", description: "Cats of the tour" } as const;
  const created = await complete(tour, "collection", api.POST("/v1/collections", { body: { ...body, ...expected } }));
  const { collections } = await answerOf(api.GET("/v1/collections"));
  const listed = collections.find(({ address }) => address === created.nft_collection);
  for (const [field, value] of Object.entries(expected)) {
    const shown = listed?.[field as keyof typeof expected];
    check(shown === value, `the collection is listed with ${field} ${String(shown)}`);
  }
  report.line(`collection  ${created.nft_collection}`);
  return created.nft_collection;
}

/**
 * Mints tokens with pictures, all by one call. `copy_media` makes the service host what `image` names, so the pictures stay
 * when the place that they came from is gone. Here they come in `data:` URIs; `https:` and `ipfs:` work in the same way.
 * @returns the metadata of the tokens: now their pictures have addresses on IPFS.
 */
export async function mintPictures(tour: Tour, collection: string, { alice }: Wallets): Promise<Metadata[]> {
  const { api, requests, report, signal } = tour;
  report.step(`Mint ${CATS} cats for tour-alice with one call; the service hosts their pictures (copy_media)`);
  const cats = Array.from({ length: CATS }, (_, number) => cat(number));
  const items = cats.map((picture) => ({
    collection_address: collection,
    to_address: alice,
    name: "Cat {token_id}",
    image: dataUri(picture),
    attributes: picture.attributes,
    copy_media: true,
  }));
  const { results } = await answerOf(api.POST("/v1/nfts/batch", { body: { items } }));
  const accepted = results.flatMap((result) => ("request_id" in result ? result.request_id : []));
  check(accepted.length === CATS, `only ${accepted.length} of ${CATS} mints were accepted`);
  const completed = await Promise.all(accepted.map((id) => api.waitFor(id, { type: "mint", signal })));
  requests.push(...accepted);
  report.completed(completed);

  const path = { address: collection };
  const { nfts } = await answerOf(api.GET("/v1/collections/{address}", { params: { path } }));
  const minted = nfts.flatMap(({ metadata }) => metadata ?? []);
  check(minted.length === CATS, `${minted.length} tokens have metadata`);
  const first = nfts.find(({ token_id: tokenId }) => tokenId === completed[0]?.nft_token_id);
  await checkPicture(tour, first?.metadata?.image ?? "", cats[0]?.svg ?? "");
  return minted;
}

/** Checks that the service answers with the picture at its place on IPFS, as any page would ask for it. */
async function checkPicture({ baseUrl, report, signal }: Tour, uri: string, expected: string): Promise<void> {
  check(uri.startsWith("ipfs://"), `the picture is at ${uri}, not on IPFS`);
  const url = `${baseUrl}/ipfs/${uri.slice("ipfs://".length)}`;
  const answer = await fetch(url, { signal });
  check(answer.headers.get("content-type") === SVG_TYPE, `${url} is not an SVG`);
  check((await answer.text()) === expected, `${url} is another picture`);
  report.line(`a picture   ${url}`);
}

export async function createErc1155(tour: Tour, { alice, bob }: Wallets): Promise<void> {
  const { api, report } = tour;
  report.step("Create a hosted ERC1155 collection");
  const stone = gem();
  const gems = { type: "ERC1155", name: "Tour Gems", symbol: "GEMS", image: await upload(tour, stone.svg) } as const;
  const created = await complete(tour, "collection", api.POST("/v1/collections", { body: gems }));
  const token = { collection_address: created.nft_collection, token_id: GEM };
  report.line(`collection  ${created.nft_collection}`);

  report.step(`Create token ${GEM} of it, with 10 copies for tour-alice`);
  const picture = { image: dataUri(stone), attributes: stone.attributes, copy_media: true };
  const copies = { initial_supply: 10, initial_owner: alice, name: "Gem {token_id}", ...picture };
  await complete(tour, "mint", api.POST("/v1/nfts", { body: { ...token, ...copies } }));
  report.step(`Mint 5 more copies of token ${GEM} for tour-bob`);
  await complete(tour, "mint", api.POST("/v1/nfts", { body: { ...token, quantity: 5, to_address: bob } }));

  const ofAlice = await held(tour, alice, created.nft_collection, GEM);
  const ofBob = await held(tour, bob, created.nft_collection, GEM);
  check(ofAlice?.quantity === 10 && ofBob?.quantity === 5, "the wallets hold the wrong number of copies");
  check(ofAlice.metadata?.name === `Gem ${GEM}`, "the token has the wrong name");
}

/** Sends many calls at once. The service puts requests that arrive together into one transaction. */
export async function mintBurst(tour: Tour, collection: string, { alice }: Wallets, cats: Metadata[]): Promise<void> {
  const { api, requests, report, signal } = tour;
  report.step(`Mint ${MINTS} tokens for tour-alice with ${MINTS} calls at once`);
  const started = performance.now();
  const mint = async (number: number) => {
    // The service hosts these pictures already, so nothing is copied.
    const { image, attributes } = cats[number % cats.length] ?? {};
    const body = {
      collection_address: collection,
      to_address: alice,
      name: "Cat {token_id}",
      ...(image === undefined ? {} : { image }),
      ...(attributes === undefined ? {} : { attributes }),
      unlockable_content: `The secret of mint number ${number}`,
    };
    return api.mintAndWait(body, { signal });
  };
  const minted = await Promise.all(Array.from({ length: MINTS }, (_, index) => mint(index + 1)));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  requests.push(...minted.map(({ request_id: id }) => id));
  const transactions = report.completed(minted);
  report.result(`done in ${seconds} s, with ${transactions} transactions`);
  const tokenIds = minted.map(({ nft_token_id: tokenId }) => Number(tokenId)).sort((a, b) => a - b);
  const inOrder = tokenIds.every((tokenId, index) => tokenId === CATS + index + 1);
  check(inOrder, `the token ids are not ${CATS + 1} to ${CATS + MINTS}`);
  const { collections } = await answerOf(api.GET("/v1/collections"));
  const count = collections.find(({ address }) => address === collection)?.minted;
  check(count === CATS + MINTS, `the collection has ${count ?? "no"} tokens`);
  check(transactions <= MOST_TRANSACTIONS, `${MINTS} mints took ${transactions} transactions`);
}

/** The wallet signs and the service pays for gas. */
export async function transferOne(tour: Tour, collection: string, { alice, bob }: Wallets): Promise<void> {
  const { api, report } = tour;
  report.step("Transfer token 1 from tour-alice to tour-bob");
  const body = { from_address: alice, to_address: bob, contract_address: collection, token_id: 1 };
  await complete(tour, "transfer", api.POST("/v1/transfers", { body }));
  const path = { address: collection, token_id: 1 };
  const nft = await answerOf(api.GET("/v1/collections/{address}/{token_id}", { params: { path } }));
  const owner = nft.type === "ERC721" ? nft.owner : null;
  check(owner === bob, `token 1 belongs to ${owner ?? "nobody"}`);
  check((await held(tour, alice, collection, 1)) === undefined, "tour-alice still has token 1");
}

/** Unlockable content is not on chain. The API returns it only for the wallet that holds the token. */
export async function moveUnlockableContent(tour: Tour, collection: string, { alice, bob }: Wallets): Promise<void> {
  const { api, report } = tour;
  // The first token that has such content.
  const token = CATS + 1;
  report.step(`Transfer token ${token} with its unlockable content`);
  const content = (await held(tour, alice, collection, token))?.unlockable_content ?? null;
  check(content !== null, `tour-alice holds token ${token} and does not see its content`);
  check((await held(tour, bob, collection, token)) === undefined, `tour-bob has token ${token} already`);
  const body = { from_address: alice, to_address: bob, contract_address: collection, token_id: token };
  await complete(tour, "transfer", api.POST("/v1/transfers", { body }));
  const after = await held(tour, bob, collection, token);
  check(after?.unlockable_content === content, "tour-bob holds the token and does not see its content");
  check((await held(tour, alice, collection, token)) === undefined, "tour-alice still sees the token");
  report.line(`tour-bob can read "${content}" now, tour-alice no longer can`);
}

/** Wallets can hold and transfer any standard token, including tokens of contracts that somebody else deployed. */
export async function transferForeignTokens(tour: Tour, { alice, bob }: Wallets): Promise<void> {
  const { api, report, rpcUrl } = tour;
  await withOutsideAccount(rpcUrl, async ({ wallet, erc721, erc1155 }) => {
    const transfer = { from_address: alice, to_address: bob, token_id: OUTSIDE };
    report.step("Transfer an ERC721 token of a contract that the service did not deploy");
    const contract721 = await erc721.getAddress();
    await (await erc721.mint(alice, OUTSIDE)).wait();
    report.line(`${wallet.address} deployed ${contract721}`);
    report.line(`and minted token ${OUTSIDE} to tour-alice`);
    const one = { ...transfer, contract_address: contract721 };
    await complete(tour, "transfer", api.POST("/v1/transfers", { body: one }));
    check((await erc721.ownerOf(OUTSIDE)) === bob, "tour-bob does not own the ERC721 token on chain");
    const ofBob = await held(tour, bob, contract721, OUTSIDE);
    check(ofBob !== undefined, "the API does not list the ERC721 token for tour-bob");

    report.step("Transfer 3 of 8 copies of an ERC1155 token of another such contract");
    const contract1155 = await erc1155.getAddress();
    await (await erc1155.mint(alice, OUTSIDE, 8)).wait();
    report.line(`${wallet.address} deployed ${contract1155}`);
    report.line(`and minted 8 copies of token ${OUTSIDE} to tour-alice`);
    const three = { ...transfer, contract_address: contract1155, amount: 3 };
    await complete(tour, "transfer", api.POST("/v1/transfers", { body: three }));
    check((await erc1155.balanceOf(bob, OUTSIDE)) === 3n, "tour-bob does not have the 3 copies on chain");
    const listed = [await held(tour, alice, contract1155, OUTSIDE), await held(tour, bob, contract1155, OUTSIDE)];
    check(listed[0]?.quantity === 5 && listed[1]?.quantity === 3, "the API lists the wrong number of copies");
  });
}

/** Checks that one webhook reported the outcome of every request. */
export async function checkWebhooks({ api, webhooks, requests, report, signal }: Tour): Promise<void> {
  report.step("Check the webhooks");
  for (const requestId of requests) {
    if ((await webhooks.outcome(requestId, DELIVERY_MS, signal)) !== null) continue;
    throw new Problem(
      `The tour failed: no webhook reported the outcome of request ${requestId}. GET /v1/webhook/deliveries says why.`,
    );
  }
  const completed = webhooks.events.filter(({ type }) => type === "completed");
  check(completed.length === requests.length, `${completed.length} webhooks reported ${requests.length} requests`);
  check(webhooks.refused === 0, `${webhooks.refused} webhooks had an invalid signature`);
  report.result(`${webhooks.events.length} events arrived, all with a valid signature`);
  report.line(`${completed.length} of them are "completed" events: one for each request of this tour`);
  // The receiver stops with the tour.
  await answerOf(api.DELETE("/v1/webhook"));
}
