import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { type Command, InvalidArgumentError, Option } from "commander";

import { backoff } from "../domain/backoff.ts";
import { createClient } from "../../client/client.ts";
import { ApiRefusal, networkCodeOf } from "../../client/errors.ts";
import type { AppEvent, StreamedEvent } from "../../client/events.ts";
import { pickSettings } from "../config/settings.ts";
import { DEFAULT_EVENTS, NAMED_EVENTS, type NamedEvent } from "../domain/events.ts";
import { newWebhookSecret, signatureHeaders, signingKey } from "../keys/webhook-secrets.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { isRedirect } from "../shared/answer-text.ts";
import { fileErrorReason } from "../shared/folder.ts";
import { pause } from "../shared/pause.ts";
import { writeNewFile } from "../shared/write-new-file.ts";
import { connectionOf, isHttpUrl, TOKEN_OPTION, URL_OPTION } from "./options.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

interface Options {
  json?: true;
  forwardTo: string;
  url?: string;
  token?: string;
  secret?: string;
  after?: string;
  fromStart?: true;
  type?: NamedEvent[];
}

const NOTES =
  "Reads the API only, so it works on any machine. The token needs the scope read. Each call is signed like a webhook:\n" +
  "give your receiver the signing secret that is printed at the start, or pass the secret that it has.\n" +
  "The secret is kept in DATA_DIR/listen-secret, so it stays the same at the next start.\n" +
  "While nothing listens at the URL, the events wait, in their order. An answer other than 2xx is shown and not repeated.\n" +
  "Ctrl-C ends the command and prints how to continue.";

export function listen(terminal: Terminal): Command {
  return resultCommand("listen", "Deliver an app's events to a URL of this machine, signed like webhooks.", {
    examples: ["listen --forward-to http://localhost:4000/hook"],
    json: "{cursor, created_at, type, request_id, contract_address, token_id, answer}, a line for each event, the rest on standard error",
    notes: NOTES,
  })
    .requiredOption("--forward-to <url>", "where to send the events; any URL that this machine reaches", readUrl)
    .option(...URL_OPTION)
    .option(...TOKEN_OPTION)
    .option("--secret <secret>", "signing secret (whsec_...) (default: the one kept in DATA_DIR)", readSecret)
    .option("--after <cursor>", "continue after this event")
    .addOption(new Option("--from-start", "begin with the app's first event").conflicts("after"))
    .addOption(
      new Option("--type <type...>", `only events of these types (default: ${DEFAULT_EVENTS.join(", ")})`).choices(
        NAMED_EVENTS,
      ),
    )
    .action(async (options: Options) => {
      const stop = new AbortController();
      const end = () => {
        stop.abort();
      };
      process.once("SIGINT", end).once("SIGTERM", end);
      try {
        await run(terminal, options, stop.signal);
      } finally {
        process.off("SIGINT", end).off("SIGTERM", end);
      }
    });
}

/** Forwards events until the signal aborts. @throws OperatorError */
async function run(terminal: Terminal, options: Options, abort: AbortSignal): Promise<void> {
  const { url, token } = connectionOf(terminal, options);
  const secret = options.secret ?? (await secretOf(terminal));
  const receiver = { url: options.forwardTo, secret };
  const say = (text: string) => (options.json === true ? terminal.remark?.(text) : terminal.write(text));
  const progress: { cursor?: string } = {};
  const begin = options.fromStart === true ? "start" : options.after;
  const client = createClient({ baseUrl: url, token });
  const events = client.events({
    ...(begin === undefined ? {} : { after: begin }),
    ...(options.type === undefined ? {} : { types: options.type }),
    signal: abort,
    onOpen: (cursor) => {
      if (progress.cursor === undefined)
        say(`Signing secret: ${secret}\nForwarding events of ${url} to ${receiver.url}\n`);
      else terminal.remark?.(`Connected again.\n`);
      progress.cursor ??= cursor;
    },
    onLost: (error, wait) => {
      const where =
        progress.cursor === undefined ? ` Is the service at ${url}? Otherwise set --url or MONETA_URL.` : "";
      terminal.remark?.(`${withFullStop(error)}${where} Trying again in ${(wait / 1_000).toFixed(1)} s.\n`);
    },
  });
  try {
    for await (const streamed of events) {
      const { cursor, event } = streamed;
      const answer = await forward(terminal, receiver, streamed, abort);
      if (answer === null) break;
      const { created_at: at, type, request_id: id } = event;
      const line = { cursor, created_at: at, type, request_id: id, ...subjectOf(event), answer };
      printResult(terminal, options.json, line, `${at}  ${type.padEnd(9)}  ${nameOf(event)}  ${answer}`);
      progress.cursor = cursor;
    }
  } catch (error) {
    if (error instanceof ApiRefusal) throw new OperatorError(error.message);
    if (!abort.aborted) throw error;
  } finally {
    if (progress.cursor !== undefined) say(`Stopped. Continue with --after ${progress.cursor}\n`);
  }
}

/** The token that an event is about. */
function subjectOf(event: AppEvent) {
  if (!("log_index" in event)) return {};
  return { contract_address: event.contract_address, token_id: event.token_id };
}

/** The request, the token, or the blocks that an event is about. */
function nameOf(event: AppEvent): string {
  if ("log_index" in event) return `${event.contract_address} ${event.token_id.toString()}`;
  if (event.type === "gap") return `blocks ${event.from_block.toString()} to ${event.to_block.toString()}`;
  return event.request_id;
}

function withFullStop(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.endsWith(".") ? message : `${message}.`;
}

function readUrl(text: string): string {
  if (!isHttpUrl(text)) throw new InvalidArgumentError("Give a URL that begins with http:// or https://.");
  return text;
}

async function secretOf(terminal: Terminal): Promise<string> {
  const { dataDir: folder } = pickSettings(terminal.env, "dataDir");
  try {
    return await keptSecret(folder);
  } catch (error) {
    const reason = fileErrorReason(error);
    if (reason === null) throw error;
    terminal.remark?.(`The signing secret cannot be kept in ${folder}: ${reason}. The next start makes a new one.\n`);
    return newWebhookSecret();
  }
}

/** The signing secret of earlier runs. The first run makes it; only the file's owner can read it. */
export async function keptSecret(folder: string): Promise<string> {
  const file = join(folder, "listen-secret");
  // Where it exists, nothing is written.
  await writeNewFile(file, `${newWebhookSecret()}\n`);
  const secret = (await readFile(file, "utf8")).trim();
  if (!isSecret(secret)) throw new OperatorError(`${file} has no signing secret. Delete the file, or pass --secret.`);
  return secret;
}

function isSecret(text: string): boolean {
  return /^whsec_[A-Za-z0-9+/]{16,}={0,2}$/.test(text);
}

function readSecret(text: string): string {
  if (!isSecret(text)) {
    throw new InvalidArgumentError("Give whsec_ and base64, as PUT /v1/webhook returns it.");
  }
  return text;
}

interface Receiver {
  url: string;
  secret: string;
}

/** All in milliseconds. How long the receiver has to answer, as for webhooks. */
const TIMEOUT = 15_000;
/** The wait while nothing listens at the URL. It doubles with each try. */
const WAIT = { first: 500, longest: 5_000 };

/**
 * Sends an event to the receiver as the service sends webhooks. While nothing listens there, waits and tries again: the
 * event is not lost, and later ones do not overtake it. @returns a sentence on what the receiver did; null on abort.
 */
async function forward(
  terminal: Pick<Terminal, "remark">,
  { url, secret }: Receiver,
  { event }: StreamedEvent<AppEvent>,
  abort: AbortSignal,
): Promise<string | null> {
  const payload = JSON.stringify(event);
  const key = signingKey({ secret, expires_at: null });
  for (let tries = 0; ; tries++) {
    if (abort.aborted) return null;
    const started = performance.now();
    const took = () => `${Math.round(performance.now() - started).toString()} ms`;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          ...signatureHeaders([key], { id: event.id, at: Date.now(), payload }),
          "content-type": "application/json",
          "user-agent": "moneta",
        },
        body: payload,
        redirect: "manual",
        signal: AbortSignal.any([abort, AbortSignal.timeout(TIMEOUT)]),
      });
      const { status } = response;
      const answer = `${status.toString()} in ${took()}${isRedirect(status) ? ": redirects are not followed" : ""}`;
      // Only the status counts, so the answer need not arrive as a whole.
      await response.body?.cancel().catch(() => undefined);
      return answer;
    } catch (error) {
      if (error instanceof Error && error.name === "TimeoutError") return `no answer within ${took()}`;
      if (aborted(abort)) return null;
      if (tries === 0) terminal.remark?.(`${url} cannot be reached (${reasonOf(error)}). Waiting for it.\n`);
      await pause(backoff(WAIT, tries), abort);
    }
  }
}

/** A function, because the type checker assumes that a signal stays as it was. */
function aborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return networkCodeOf(error) ?? (cause instanceof Error ? cause.message : String(cause));
}
