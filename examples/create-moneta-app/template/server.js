import { randomUUID } from "node:crypto";

import { ApiRefusal, ConnectionFailed, verifyWebhook, WebhookRefused } from "@moneta/client";
import express from "express";

import { Moneta } from "./moneta.js";

const { MONETA_TOKEN: token = "", MONETA_URL: url = "http://localhost:3000", PORT: port = "4000" } = process.env;
/** Only this machine reaches the app: nobody has signed in yet. */
const HOST = "127.0.0.1";

/** Your app stores here what it must know. An event may come twice with the same `id`. */
function received(event) {
  console.log(`${event.type}: request ${event.request_id ?? "of a test"}, token ${event.nft_token_id ?? "none"}`);
}

const app = express();
const moneta = new Moneta({ url, token });

// The signature is of these bytes, so nothing may parse them before.
app.post("/webhook", express.raw({ type: "*/*", limit: "100kb" }), async (request, response) => {
  try {
    received(await verifyWebhook(request.body, request.headers, moneta.webhookSecret));
    response.sendStatus(204);
  } catch (error) {
    if (!(error instanceof WebhookRefused)) throw error;
    response.status(401).send(error.message);
  }
});

app.get("/", (_request, response) => {
  response.send(
    page(
      "A coin for you",
      `<form method="post" action="/mint">
        <label>Your name <input name="user" required maxlength="100" /></label>
        <input type="hidden" name="key" value="${randomUUID()}" />
        <button>Mint</button>
      </form>`,
    ),
  );
});

app.post("/mint", express.urlencoded({ extended: false, limit: "10kb" }), async (request, response) => {
  const { user, key } = request.body ?? {};
  if (typeof user !== "string" || user.trim() === "") return response.status(422).send("Type a name.");
  await moneta.mint(user.trim(), typeof key === "string" && key !== "" ? key.slice(0, 100) : randomUUID());
  response.redirect(303, `/users/${encodeURIComponent(user.trim())}`);
});

app.get("/users/:user", async (request, response) => {
  const rows = (await moneta.requestsOf(request.params.user)).map(
    ({ status, nft_token_id: id, error_message: reason }) =>
      `<li>${escape(status)}${id === null ? "" : `: Coin ${escape(id)}`}${reason === null ? "" : `: ${escape(reason)}`}</li>`,
  );
  response.send(page(`Coins of ${escape(request.params.user)}`, `<ul>${rows.join("") || "<li>None yet</li>"}</ul>`));
});

// The reason of a refusal is for people; everything else is a bug of the app or an outage.
app.use((error, _request, response, _next) => {
  if (error instanceof ApiRefusal && error.status < 500) return response.status(422).send(escape(error.message));
  console.error(error);
  response.status(error instanceof ConnectionFailed ? 503 : 500).send("That did not work. Try again later.");
});

function page(title, content) {
  return `<!doctype html><html lang="en"><meta charset="utf-8" /><title>${title}</title><h1>${title}</h1>${content}<p><a href="/">Back</a></p></html>`;
}

/** Names come from strangers: as text, they cannot become part of the page. */
function escape(text) {
  return String(text).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

async function main() {
  if (token === "") fail("MONETA_TOKEN is missing. Write it to .env: a token of your app in Moneta.");
  await moneta.openCollection();
  const server = app.listen(Number(port), HOST, async (error) => {
    if (error) return fail(error);
    const { port: open } = server.address();
    const publicUrl = process.env.PUBLIC_URL || `http://${HOST}:${open}`;
    await moneta.registerWebhook(`${publicUrl}/webhook`).catch(fail);
    console.log(`The app is open: http://localhost:${open}`);
  });
}

/** What the person who starts the app can repair is one sentence. */
function fail(error) {
  const isKnown = error instanceof ApiRefusal || error instanceof ConnectionFailed || error.code === "EADDRINUSE";
  console.error(isKnown ? error.message : error);
  process.exit(1);
}

main().catch(fail);
