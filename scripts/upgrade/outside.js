import { WebhookReceiver } from "../scene/receiver.ts";
/** What the apps have outside of Moneta, on one loopback port: webhook receivers (`/hook/...`) and media (`/media/...`). */
export class Outside {
    /** The calls that were answered with 204, in order. */
    delivered = [];
    /** Paths that answer 503. */
    broken = new Set();
    #receiver;
    constructor(receiver) {
        this.#receiver = receiver;
        receiver.respond = ({ method, path, headers, body }, response) => {
            if (this.broken.has(path)) {
                response.writeHead(503).end();
            }
            else if (method === "GET") {
                // The same path is the same content for ever.
                response.setHeader("content-type", "image/svg+xml").end(svg(path));
            }
            else {
                const { type, request_id: requestId = null } = body;
                this.delivered.push({ path, id: String(headers["webhook-id"]), type, requestId });
                response.writeHead(204).end();
            }
        };
    }
    static async listen() {
        return new Outside(await WebhookReceiver.listen());
    }
    get origin() {
        return this.#receiver.origin;
    }
    close() {
        return this.#receiver.close();
    }
}
/** A small picture that contains the name. */
function svg(name) {
    return `<svg xmlns="http://www.w3.org/2000/svg"><title>${name}</title></svg>`;
}
