import { answerOf } from "../../client/client.ts";
import { type App, plainClient } from "./session.ts";
import type { Page } from "./use-data.ts";

/** The apps, for the operator's session. @throws ApiRefusal, ConnectionFailed */
export async function listApps(cursor: string | undefined): Promise<Page<App>> {
  const query = cursor === undefined ? {} : { cursor };
  const { apps, next } = await answerOf(plainClient.GET("/v1/operator/apps", { params: { query } }));
  return { items: apps, next };
}
