import { type Client, ConnectionFailed, verifyWebhook, WebhookRefused } from "@moneta/client";
import express, { type Express, type Request, type RequestHandler } from "express";

import { findPicture, PUBLIC_FOLDER } from "./catalog.ts";
import { ownFormsOnly, Refusal, securityHeaders, showProblem } from "./guard.ts";
import type { LivePages } from "./live.ts";
import { askOutcome, createWallet, isBusy, mint, outcomeOf } from "./moneta.ts";
import { shopPage, stateOf, welcomePage } from "./page.ts";
import type { Claim, Store } from "./store.ts";
import { cookieOf, newVisitorId, readName, readVisitor, type Visitor } from "./visitors.ts";

interface ShopDeps {
  client: Client;
  store: Store;
  live: LivePages;
  /** Address of the collection. */
  collection: string;
  /** The address that visitors type. */
  shopUrl: string;
  /** Signs the visitors' cookies. */
  cookieKey: string;
  webhookSecret: string;
}

/** The shop as an Express app. */
export function createShop(deps: ShopDeps): Express {
  const shop = express();
  shop.disable("x-powered-by");
  shop.use(securityHeaders);
  // Before the check of forms: Moneta calls this, not a browser. Its signature says that it is Moneta.
  shop.post("/webhook", express.raw({ type: () => true, limit: "64kb" }), receiveWebhook(deps));
  shop.use(express.static(PUBLIC_FOLDER, { index: false }));
  shop.use(ownFormsOnly(deps.shopUrl), express.urlencoded({ extended: false, limit: "2kb" }));
  shop.get("/", showShop(deps));
  shop.post("/visit", welcome(deps));
  shop.post("/claim", claimPicture(deps));
  shop.get("/live", openLive(deps));
  shop.use(() => {
    throw new Refusal(404, "There is no such page.");
  });
  shop.use(showProblem);
  return shop;
}

function showShop(deps: ShopDeps): RequestHandler {
  return async (request, response) => {
    const visitor = visitorOf(deps, request);
    if (visitor !== null) await catchUp(deps, visitor);
    // The page is about one visitor and changes with each claim.
    response.set("Cache-Control", "no-store");
    response.send(visitor === null ? welcomePage() : shopPage(visitor, deps.store.claimsOf(visitor.id)));
  };
}

function welcome(deps: ShopDeps): RequestHandler {
  return async (request, response) => {
    // A second tab may send the form again. The visitor keeps the wallet.
    if (visitorOf(deps, request) === null) {
      const name = readName(fieldOf(request, "name"));
      if (name === null) throw new Refusal(422, "Please enter a name of at most 40 characters.");
      const id = newVisitorId();
      const visitor = { id, name, wallet: await createWallet(deps.client, id) };
      response.append("Set-Cookie", cookieOf(visitor, deps.cookieKey, deps.shopUrl.startsWith("https:")));
    }
    response.redirect(303, "/");
  };
}

function claimPicture(deps: ShopDeps): RequestHandler {
  return async (request, response) => {
    const visitor = visitorOf(deps, request);
    if (visitor === null) throw new Refusal(403, "Please tell us your name first.");
    const picture = findPicture(fieldOf(request, "picture"));
    if (picture === null) throw new Refusal(422, "The shop has no such picture.");
    const before = deps.store.claim(visitor.id, picture.id);
    if (before === null || before.status === "failed") {
      const attempt = (before?.attempt ?? 0) + 1;
      const requestId = await mint(deps.client, deps.collection, { visitor, picture, attempt });
      deps.store.recordClaim({ visitor: visitor.id, picture: picture.id, attempt, requestId });
    }
    // A redirect, so that a reload of the page does not send the form again.
    response.redirect(303, `/#${picture.id}`);
  };
}

function openLive(deps: ShopDeps): RequestHandler {
  return async (request, response) => {
    const visitor = visitorOf(deps, request);
    if (visitor === null) throw new Refusal(403, "Please tell us your name first.");
    if (!deps.live.open(visitor.id, response)) return;
    // The browser connects again by itself after a restart of the shop. What happened meanwhile comes now.
    await catchUp(deps, visitor);
    for (const claim of deps.store.claimsOf(visitor.id)) tell(deps, claim);
  };
}

function receiveWebhook({ webhookSecret, ...deps }: ShopDeps): RequestHandler {
  return async (request, response) => {
    // The signature is about the bytes as they came, so nothing may parse them before.
    const body: unknown = request.body;
    const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
    const event = await verifyWebhook(bytes, request.headers, webhookSecret).catch((error: unknown) => {
      if (error instanceof WebhookRefused) return null;
      throw error;
    });
    if (event === null) {
      response.status(401).end();
      return;
    }
    const outcome = outcomeOf(event);
    // A webhook may come twice. Then this records and tells the same again, which changes nothing.
    const claim = outcome === null ? null : deps.store.recordOutcome(event.request_id ?? "", outcome);
    response.status(204).end();
    if (claim !== null) tell(deps, claim);
  };
}

/**
 * Asks Moneta about the visitor's open claims. Webhooks bring the news while the shop runs; this brings what happened while
 * it did not, and the rare webhook that was faster than the answer to the mint.
 */
async function catchUp({ client, store }: ShopDeps, visitor: Visitor): Promise<void> {
  const open = store.claimsOf(visitor.id).filter(({ status }) => status === "open");
  await Promise.all(
    open.map(async ({ requestId }) => {
      const outcome = await askOutcome(client, requestId).catch((error: unknown) => {
        // The page can wait: the claim stays open, and the webhook will come.
        if (error instanceof ConnectionFailed || isBusy(error)) return null;
        throw error;
      });
      if (outcome !== null) store.recordOutcome(requestId, outcome);
    }),
  );
}

function tell({ live }: Pick<ShopDeps, "live">, claim: Claim): void {
  live.tell(claim.visitor, stateOf(claim.picture, claim));
}

function visitorOf({ cookieKey }: ShopDeps, request: Request): Visitor | null {
  return readVisitor(request.get("cookie"), cookieKey);
}

/** A field of a form. It is whatever the browser sent. */
function fieldOf(request: Request, name: string): unknown {
  return (request.body as Record<string, unknown> | undefined)?.[name];
}
