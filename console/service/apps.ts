import { signal } from "@preact/signals";

import { answerOf } from "../../client/client.ts";
import { type App, plainClient } from "./session.ts";
import type { Page } from "./use-data.ts";

/** The apps, for the operator's session. @throws ApiRefusal, ConnectionFailed */
export async function listApps(cursor: string | undefined): Promise<Page<App>> {
  const query = cursor === undefined ? {} : { cursor };
  const { apps, next } = await answerOf(plainClient.GET("/v1/operator/apps", { params: { query } }));
  return { items: apps, next };
}

/** Whether the operator has apps to choose from. */
export const hasSeveralApps = signal(false);

/** Reads `hasSeveralApps`. @throws ApiRefusal, ConnectionFailed */
export async function countApps(): Promise<void> {
  const { apps } = await answerOf(plainClient.GET("/v1/operator/apps", { params: { query: { limit: 2 } } }));
  hasSeveralApps.value = apps.length > 1;
}
