import { Agent, type IncomingMessage, request as open } from "node:http";

/** An HTTP call. */
export interface FuzzCall {
  /** The operation that it was generated from, such as `POST /v1/nfts`. */
  origin: string;
  method: string;
  /** ASCII, including the query. */
  path: string;
  headers: Record<string, string>;
  /** null: no body. Latin-1, one character per byte, so that it can be printed and sent again. */
  body: string | null;
}

interface FuzzAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** Thrown when the service does not answer in time. */
class NoAnswer extends Error {
  override readonly name = "NoAnswer";
}

/** Sends calls over one connection. It does not use `fetch`, because `fetch` corrects or refuses many invalid calls. */
export class Sender {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: URL;
  readonly #timeout: number;

  /** @param timeout milliseconds for one answer. */
  constructor(baseUrl: string, timeout: number) {
    this.#url = new URL(baseUrl);
    this.#timeout = timeout;
  }

  close(): void {
    this.#agent.destroy();
  }

  /** @throws NoAnswer */
  async send(call: FuzzCall): Promise<FuzzAnswer> {
    try {
      return await this.#once(call, this.#agent);
    } catch (error) {
      // The service may close a kept-alive connection just as the next call begins. Retry once on a new connection.
      if (error instanceof NoAnswer) throw error;
      try {
        return await this.#once(call, new Agent());
      } catch (again) {
        throw new NoAnswer("the connection failed twice", { cause: again });
      }
    }
  }

  #once({ method, path, headers, body }: FuzzCall, agent: Agent): Promise<FuzzAnswer> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = this.#url;
      const request = open({ hostname, port, method, path, headers, agent });
      const timer = setTimeout(() => {
        reject(new NoAnswer(`no answer in ${this.#timeout} ms`));
        request.destroy();
      }, this.#timeout);
      request.once("response", (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.once("error", reject);
        const answer = () => {
          clearTimeout(timer);
          const answered = new Headers();
          for (const [name, values] of Object.entries(response.headersDistinct)) {
            for (const value of values ?? []) answered.append(name, value);
          }
          resolve({
            status: response.statusCode ?? 0,
            headers: answered,
            text: Buffer.concat(parts).toString("utf8"),
          });
        };
        response.once("end", answer);
        // A stream has no end: its beginning is the answer.
        if (isStream(response)) {
          response.once("data", () => {
            answer();
            request.destroy();
          });
        }
      });
      request.once("error", (error) => {
        clearTimeout(timer);
        reject(error);
      });
      request.end(body === null ? undefined : Buffer.from(body, "latin1"));
    });
  }
}

function isStream({ headers }: IncomingMessage): boolean {
  return headers["content-type"]?.startsWith("text/event-stream") === true;
}
