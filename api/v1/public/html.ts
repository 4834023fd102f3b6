import type { Response } from "express";

/** The policy of a page that loads only what `sources` name, sends no form, and is in no frame. */
export function pagePolicy(...sources: string[]): string {
  return ["default-src 'none'", ...sources, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"].join(
    "; ",
  );
}

/* Small pages that the service writes itself. They have no scripts, and load nothing but the style sheet and the mark of the service. */

const POLICY = pagePolicy("style-src 'self'", "img-src 'self'");

interface Html {
  title: string;
  /** Path from the page's folder to the service's root: "" or "../". Relative links work behind a proxy with a prefix. */
  root: string;
  /** HTML. */
  body: string;
}

export function sendHtml(response: Response, { title, root, body }: Html): void {
  response.set("Content-Security-Policy", POLICY).set("Cache-Control", "no-cache").type("html").send(`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escapeHtml(title)}</title>
    <link rel="icon" href="${root}docs/icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="${root}docs/page.css" />
  </head>
  <body>
${root === "" ? "" : `    <nav><a href="${root}">Moneta</a></nav>\n`}    <main>
    <h1><img src="${root}docs/icon.svg" alt="" width="40" height="40" /> ${escapeHtml(title)}</h1>
${body}
    </main>
  </body>
</html>
`);
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

/** Plain text in which backticks mark code. */
export function escapeWithCode(text: string): string {
  return escapeHtml(text).replace(/`([^`]*)`/g, "<code>$1</code>");
}
