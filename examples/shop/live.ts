import type { Response } from "express";

/** Tabs of one visitor that stay connected. A further tab works too, but shows news only after a reload. */
const MOST_TABS = 8;
/** Milliseconds. Proxies close a connection on which nothing happens for a minute. */
const HEARTBEAT = 20_000;

/** The open pages of the visitors. They are told by server-sent events what happens to their claims. */
export class LivePages {
  readonly #pages = new Map<string, Set<Response>>();
  readonly #heartbeat = setInterval(() => {
    for (const pages of this.#pages.values()) for (const page of pages) page.write(":\n\n");
  }, HEARTBEAT);

  /** Keeps the answer open. @returns false when the visitor has too many pages open. */
  open(visitor: string, response: Response): boolean {
    const pages = this.#pages.get(visitor) ?? new Set();
    // 204 tells a browser not to connect again.
    if (pages.size >= MOST_TABS) {
      response.status(204).end();
      return false;
    }
    this.#pages.set(visitor, pages.add(response));
    response.once("close", () => {
      pages.delete(response);
      if (pages.size === 0 && this.#pages.get(visitor) === pages) this.#pages.delete(visitor);
    });
    response.set({ "Content-Type": "text/event-stream", "Cache-Control": "no-store" }).flushHeaders();
    return true;
  }

  /** @param news becomes JSON. JSON has no line breaks, so no text in it can end the event. */
  tell(visitor: string, news: object): void {
    for (const page of this.#pages.get(visitor) ?? []) page.write(`event: claim\ndata: ${JSON.stringify(news)}\n\n`);
  }

  close(): void {
    clearInterval(this.#heartbeat);
    for (const pages of this.#pages.values()) for (const page of pages) page.end();
  }
}
