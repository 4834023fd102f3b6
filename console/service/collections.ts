import { answerOf, type Shape } from "../../client/client.ts";
import { client } from "./client.ts";

/** Why no token with hosted metadata can be minted, and no metadata be changed; null when both are possible. */
export function closedBecause({ hosting, adopted, metadata_frozen: frozen }: Shape<"Collection">): string | null {
  if (adopted !== null)
    return adopted.minting === null
      ? "The service cannot mint into a contract that another party deployed."
      : (adopted.minting.stopped ?? "Mint into this contract with POST /v1/nfts.");
  if (hosting !== "hosted" || frozen === "no") return null;
  return frozen === "yes"
    ? "The metadata of this collection is frozen."
    : "The metadata of this collection is being frozen.";
}

/** A collection of the app. @throws Error when the app has none at this address */
export async function readCollection(address: string): Promise<Shape<"Collection">> {
  const params = { query: { addresses: address } };
  const { collections } = await answerOf(client().GET("/v1/collections", { params }));
  const [found] = collections;
  if (found !== undefined) return found;
  throw new Error("This app has no collection at this address. Choose one from the list of collections.");
}
