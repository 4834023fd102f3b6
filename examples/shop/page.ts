import { CATALOG, type Picture } from "./catalog.ts";
import { html, type Html } from "./html.ts";
import type { Claim } from "./store.ts";
import type { Visitor } from "./visitors.ts";

/** What a page shows about a picture. The script of the page gets the same, so both say the same. */
interface CardState {
  picture: string;
  status: "free" | "open" | "arrived" | "failed";
  text: string;
}

export function stateOf(picture: string, claim: Claim | null): CardState {
  if (claim === null) return { picture, status: "free", text: "" };
  const texts = {
    open: "On its way to your wallet ...",
    arrived: claim.tokenId === null ? "It is yours." : `It is yours: postcard ${claim.tokenId}.`,
    failed: `It did not arrive (${claim.errorCode ?? "unknown reason"}). You can try again.`,
  };
  return { picture, status: claim.status, text: texts[claim.status] };
}

export function welcomePage(): string {
  return layout(html`
    <p class="lead">
      Six postcards, free for every visitor. Each is an NFT in a wallet of your own, and you pay no gas.
    </p>
    <form class="welcome" method="post" action="/visit">
      <label for="name">What is your name?</label>
      <input id="name" name="name" required maxlength="40" autocomplete="nickname" />
      <button>Get a wallet</button>
    </form>
    <ul class="cards">
      ${CATALOG.map(
        (picture) =>
          html`<li class="card">
            ${image(picture)}
            <h2>${picture.title}</h2>
          </li>`,
      )}
    </ul>
  `);
}

export function shopPage(visitor: Visitor, claims: Claim[]): string {
  const cards = CATALOG.map((picture) => {
    const claim = claims.find((one) => one.picture === picture.id) ?? null;
    return card(picture, stateOf(picture.id, claim));
  });
  return layout(html`
    <p class="lead">Hello, ${visitor.name}. Your wallet is <code>${visitor.wallet}</code>.</p>
    <ul class="cards">
      ${cards}
    </ul>
    <script src="/shop.js" defer></script>
  `);
}

export function problemPage(sentence: string): string {
  return layout(
    html`<p class="lead" role="alert">${sentence}</p>
      <p><a href="/">Back to the shop</a></p>`,
  );
}

function card(picture: Picture, { status, text }: CardState): Html {
  const claimable = status === "free" || status === "failed";
  return html`
    <li class="card" id="${picture.id}" data-status="${status}">
      ${image(picture)}
      <h2>${picture.title}</h2>
      <p role="status">${text}</p>
      <form method="post" action="/claim" ${claimable ? "" : "hidden"}>
        <input type="hidden" name="picture" value="${picture.id}" />
        <button aria-label="Claim ${picture.title}">Claim</button>
      </form>
    </li>
  `;
}

function image({ id, alt }: Picture): Html {
  return html`<img src="/pictures/${id}.svg" alt="${alt}" width="400" height="300" />`;
}

function layout(content: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Postcards</title>
        <link rel="stylesheet" href="/shop.css" />
        <link rel="icon" href="/pictures/island.svg" />
      </head>
      <body>
        <header>
          <h1><a href="/">Postcards</a></h1>
        </header>
        <main>${content}</main>
      </body>
    </html> `.text;
}
