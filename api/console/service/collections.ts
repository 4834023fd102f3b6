import { answerOf, type Shape } from "../../client/client.ts";
import { client } from "./client.ts";

/** @returns null when the app has no collection at this address. */
export async function findCollection(address: string): Promise<Shape<"Collection"> | null> {
  let cursor: string | undefined;
  do {
    const query = cursor === undefined ? {} : { cursor };
    const page: Shape<"CollectionsPage"> = await answerOf(client().GET("/v1/collections", { params: { query } }));
    const found = page.collections.find((one) => one.address.toLowerCase() === address.toLowerCase());
    if (found !== undefined) return found;
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return null;
}
