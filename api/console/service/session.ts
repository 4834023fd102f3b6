import { signal } from "@preact/signals";

import { ApiRefusal, ConnectionFailed, refusalOf } from "../../client/errors.ts";

/** Who is signed in, as the service says. */
export interface Session {
  session_id: string;
  /** `app`: one app. `operator`: all apps, of which it chooses one. */
  kind: "app" | "operator";
  app: App | null;
  scopes: string[];
  created_at: string;
  expires_at: string;
  chain_id: number;
  /** Base URL of the block explorer. null: the chain has none. */
  explorer_url: string | null;
  public_url: string;
}

export interface App {
  app_id: string;
  name: string;
}

export type SignIn =
  | { state: "loading" }
  | { state: "signed-in"; session: Session }
  /** @property problem why the link or the session does not work, as a sentence; null without an attempt */
  | { state: "signed-out"; problem: string | null };

/** The URL of the service, with a slash at its end. The console is at `console/` below it. */
export const SERVICE_URL = new URL("..", new URL(".", document.baseURI)).href;
/** Proves to the service that a script of this page made the call: no form and no link can set it. */
export const CONSOLE_HEADER = { "X-Moneta-Console": "1" };

const CHOSEN_APP = "moneta-app";

export const signedIn = signal<SignIn>({ state: "loading" });
/** The app that an operator's session has chosen. It stays chosen until the tab is closed. */
export const chosenApp = signal<App | null>(readChosenApp());

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
  return signedIn.value.state === "signed-in" && signedIn.value.session.scopes.includes(scope);
}

export function chooseApp(app: App | null): void {
  chosenApp.value = app;
  if (app === null) sessionStorage.removeItem(CHOSEN_APP);
  else sessionStorage.setItem(CHOSEN_APP, JSON.stringify(app));
}

/** Opens the session of the link, if the page was opened by one, else the session that the browser already has. */
export async function signIn(): Promise<void> {
  const code = takeCode();
  try {
    const session = code === null ? await readSession() : await callSession("POST", { code });
    if (code !== null) chooseApp(null);
    signedIn.value = session === null ? { state: "signed-out", problem: null } : { state: "signed-in", session };
  } catch (error) {
    signedIn.value = { state: "signed-out", problem: problemOf(error) };
  }
}

/** Ends the session in the service and in this browser. @throws ApiRefusal, ConnectionFailed */
export async function signOut(): Promise<void> {
  await callSession("DELETE");
  chooseApp(null);
  signedIn.value = { state: "signed-out", problem: null };
}

/** Called when the service no longer knows the session: it has expired, or the operator has revoked it. */
export function sessionEnded(): void {
  if (signedIn.value.state !== "signed-in") return;
  signedIn.value = { state: "signed-out", problem: "Your session has ended. Open a new link." };
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
    return await callSession("GET");
  } catch (error) {
    if (error instanceof ApiRefusal && error.status === UNAUTHORIZED) return null;
    throw error;
  }
}

async function callSession(method: "GET" | "POST" | "DELETE", body?: object): Promise<Session> {
  let response: Response;
  try {
    response = await fetch(`${SERVICE_URL}v1/console/session`, {
      method,
      headers: { ...CONSOLE_HEADER, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    throw new ConnectionFailed(1, error);
  }
  const answer: unknown = await response.json().catch(() => null);
  if (!response.ok) throw refusalOf(response, answer);
  return answer as Session;
}

function problemOf(error: unknown): string {
  if (error instanceof ApiRefusal) return error.body?.message ?? error.message;
  return "The service does not answer. Check that it runs, then reload this page.";
}

function readChosenApp(): App | null {
  const stored = sessionStorage.getItem(CHOSEN_APP);
  return stored === null ? null : (JSON.parse(stored) as App);
}
