import { WebhookReceiver } from "../scene/receiver.ts";

/** A webhook call that arrived. */
interface Delivered {
  path: string;
  /** The header `webhook-id`: the same at every try. */
  id: string;
  type: string;
  requestId: string | null;
}

/** What the apps have outside of Moneta, on one loopback port: webhook receivers (`/hook/...`) and media (`/media/...`). */
export class Outside {
  /** The calls that were answered with 204, in order. */
  readonly delivered: Delivered[] = [];
  /** Paths that answer 503. */
  readonly broken = new Set<string>();
  readonly #receiver: WebhookReceiver;

  private constructor(receiver: WebhookReceiver) {
    this.#receiver = receiver;
    receiver.respond = ({ method, path, headers, body }, response) => {
      if (this.broken.has(path)) {
        response.writeHead(503).end();
      } else if (method === "GET") {
        // The same path is the same content for ever.
        response.setHeader("content-type", "image/svg+xml").end(svg(path));
      } else {
        const { type, request_id: requestId = null } = body as { type: string; request_id?: string };
        this.delivered.push({ path, id: String(headers["webhook-id"]), type, requestId });
        response.writeHead(204).end();
      }
    };
  }

  static async listen(): Promise<Outside> {
    return new Outside(await WebhookReceiver.listen());
  }

  get origin(): string {
    return this.#receiver.origin;
  }

  close(): Promise<void> {
    return this.#receiver.close();
  }
}

/** A small picture that contains the name. */
function svg(name: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg"><title>${name}</title></svg>`;
}
