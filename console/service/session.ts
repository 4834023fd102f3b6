import { signal } from "@preact/signals";

import { answerOf, createClient, type Shape } from "../../client/client.ts";
import { ApiRefusal } from "../../client/errors.ts";

/** Who is signed in, as the service says. */
export type Session = Shape<"ConsoleSession">;
/** An app, of which an operator's session chooses one. */
export type App = NonNullable<Session["app"]>;

type SignIn =
  | { state: "loading" }
  | { state: "signed-in"; session: Session }
  /** A link was opened in a browser that has a session already. */
  | { state: "asking"; session: Session; code: string }
  /** @property problem why the link or the session does not work, as a sentence; null without an attempt */
  | { state: "signed-out"; problem: string | null };

/** The URL of the service, with a slash at its end. The console is at `console/` below it. */
export const SERVICE_URL = new URL("..", new URL(".", document.baseURI)).href;
/** On a local chain, the beginning of a command on the machine of the service. Empty elsewhere. */
export const LOCAL_CLI = document.querySelector<HTMLMetaElement>('meta[name="moneta-cli"]')?.content ?? "";
/** The beginning of a command, for the operator. Elsewhere than on a local chain it needs the settings of the service. */
export const CLI = LOCAL_CLI || "npm run cli --";
/** Proves to the service that a script of this page made the call: no form and no link can set it. */
export const CONSOLE_HEADER = { "X-Moneta-Console": "1" };

const CHOSEN_APP = "moneta-app";
/** Remembers for all tabs that this browser has signed in. It spares a new browser the question for its session. */
const SIGNED_IN = "moneta-signed-in";

/** Calls without an app. */
export const plainClient = createClient({ baseUrl: SERVICE_URL, headers: CONSOLE_HEADER });

export const signedIn = signal<SignIn>({ state: "loading" });
/** The app that an operator's session has chosen. It stays chosen until the tab is closed. */
const chosenApp = signal<App | null>(readChosenApp());

const UNAUTHORIZED = 401;

/** The session. Only screens use it, which are shown to who is signed in. */
export function session(): Session {
  const now = signedIn.value;
  if (now.state !== "signed-in") throw new Error("Nobody is signed in.");
  return now.session;
}

/** The app whose things the screens show. null: an operator has not chosen one yet. */
export function currentApp(): App | null {
  const now = signedIn.value;
  if (now.state !== "signed-in") return null;
  return now.session.kind === "app" ? now.session.app : chosenApp.value;
}

export function isOperator(): boolean {
  return signedIn.value.state === "signed-in" && signedIn.value.session.kind === "operator";
}

/** Whether the session may make calls that need this scope. Also without it, the service refuses such calls. */
export function mayUse(scope: string): boolean {
  return signedIn.value.state === "signed-in" && signedIn.value.session.scopes.some((one) => one === scope);
}

export function chooseApp(app: App | null): void {
  chosenApp.value = app;
  if (app === null) sessionStorage.removeItem(CHOSEN_APP);
  else sessionStorage.setItem(CHOSEN_APP, JSON.stringify(app));
}

/**
 * Opens the session of the link, if the page was opened by one, else the session that the browser already has. Who has a
 * session is asked first: anybody can send a link, and its session may be of somebody else's app.
 */
export async function signIn(): Promise<void> {
  const code = takeCode();
  try {
    const has = code === null || localStorage.getItem(SIGNED_IN) !== null;
    const session = has ? await readSession() : null;
    if (session !== null) localStorage.setItem(SIGNED_IN, "yes");
    if (code !== null && session !== null) signedIn.value = { state: "asking", session, code };
    else if (code !== null) await openLink(code);
    else signedIn.value = session === null ? { state: "signed-out", problem: null } : { state: "signed-in", session };
  } catch (error) {
    signedIn.value = { state: "signed-out", problem: problemOf(error) };
  }
}

/** Answers the question of `asking`. @param code null: the session stays. @throws ApiRefusal, ConnectionFailed */
export async function decide(session: Session, code: string | null): Promise<void> {
  if (code === null) signedIn.value = { state: "signed-in", session };
  else await openLink(code);
}

/** Ends the session that the browser had before. @throws ApiRefusal, ConnectionFailed */
async function openLink(code: string): Promise<void> {
  const session = await answerOf(plainClient.POST("/v1/console/session", { body: { code } }));
  chooseApp(null);
  localStorage.setItem(SIGNED_IN, "yes");
  signedIn.value = { state: "signed-in", session };
}

/** Ends the session in the service and in this browser. @throws ApiRefusal, ConnectionFailed */
export async function signOut(): Promise<void> {
  await answerOf(plainClient.DELETE("/v1/console/session"));
  chooseApp(null);
  localStorage.removeItem(SIGNED_IN);
  signedIn.value = { state: "signed-out", problem: null };
}

/** Called when the service no longer knows the session: it has expired, or the operator has revoked it. */
export function sessionEnded(): void {
  if (signedIn.value.state !== "signed-in") return;
  localStorage.removeItem(SIGNED_IN);
  signedIn.value = { state: "signed-out", problem: "Your session has ended. You need a new link." };
}

/** The code of the link, which leaves the address at once: it must not stay in the history. */
function takeCode(): string | null {
  const found = /^#\/?code=([^&]+)$/.exec(location.hash);
  if (found?.[1] === undefined) return null;
  history.replaceState(null, "", "#/");
  return found[1];
}

/** @returns null when the browser has no session. */
async function readSession(): Promise<Session | null> {
  try {
    return await answerOf(plainClient.GET("/v1/console/session"));
  } catch (error) {
    if (error instanceof ApiRefusal && error.status === UNAUTHORIZED) return null;
    throw error;
  }
}

function problemOf(error: unknown): string {
  if (error instanceof ApiRefusal) return error.body?.message ?? error.message;
  return "The service does not answer. Check that it runs, then reload this page.";
}

function readChosenApp(): App | null {
  const stored = sessionStorage.getItem(CHOSEN_APP);
  return stored === null ? null : (JSON.parse(stored) as App);
}
