import { answerOf, type Shape } from "../../client/client.ts";
import { useAgain } from "../service/again.ts";
import { client } from "../service/client.ts";
import { liveState, useLive } from "../service/live.ts";
import { type Loaded, useData } from "../service/use-data.ts";

/** Milliseconds between two polls while no events arrive. */
const LOOK = 2_000;

/** A request, up to date until it is final: by the app's events, and by asking again, more often while there are none. */
export function useRequest(requestId: string): Loaded<Shape<"Request">> {
  const loaded = useData(
    () => answerOf(client().GET("/v1/requests/{request_id}", { params: { path: { request_id: requestId } } })),
    [requestId],
  );
  useLive((event) => {
    if (event.request_id === requestId) loaded.reload();
  });
  const status = loaded.data?.status;
  const isFinal = status === "completed" || status === "failed";
  useAgain(!isFinal, loaded.reload, liveState.value === "open" ? undefined : LOOK);
  return loaded;
}
