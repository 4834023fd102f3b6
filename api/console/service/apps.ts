import { ConnectionFailed, refusalOf } from "../../client/errors.ts";
import { type App, CONSOLE_HEADER, SERVICE_URL } from "./session.ts";
import type { Page } from "./use-data.ts";

/** The apps, for the operator's session. @throws ApiRefusal, ConnectionFailed */
export async function listApps(cursor: string | undefined): Promise<Page<App>> {
  const search = cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`;
  let response: Response;
  try {
    response = await fetch(`${SERVICE_URL}v1/operator/apps${search}`, { headers: CONSOLE_HEADER });
  } catch (error) {
    throw new ConnectionFailed(1, error);
  }
  const answer: unknown = await response.json().catch(() => null);
  if (!response.ok) throw refusalOf(response, answer);
  const { apps, next } = answer as { apps: App[]; next: string | null };
  return { items: apps, next };
}
