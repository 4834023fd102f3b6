import type { Shape } from "../../client/client.ts";

/** What a request is doing, as a sentence. */
export function stateSentence({ status, error_message: failure }: Shape<"Request">): string {
  switch (status) {
    case "pending":
      return "Accepted. It is sent in a moment, together with others that wait.";
    case "processing":
      return "Sent to the chain. It waits for its block and for confirmations.";
    case "completed":
      return "Done. It is on the chain.";
    case "failed":
      return failure ?? "It failed. The page of the request says why.";
  }
}
