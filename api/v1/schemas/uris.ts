import { MAX_URI_LENGTH } from "../../config/limits.ts";
import { UPLOAD_INSTEAD } from "../../../client/rules/media.ts";
import { refuse, text } from "./inputs.ts";

/* Every URI that the service stores has one of these schemes: anything else cannot be opened by wallets and marketplaces. */

const LINK_SCHEMES = ["http", "https", "ipfs", "ar"] as const;
/** `data:` holds the content itself: a picture, or metadata that lives in the contract. */
const CONTENT_SCHEMES = [...LINK_SCHEMES, "data"] as const;

/** A URI of something that people open or that ids are appended to: a website, a base URI. */
export const linkUri = uri(LINK_SCHEMES);

/** A URI of media or of one metadata document. */
export const contentUri = uri(CONTENT_SCHEMES);

function uri(schemes: readonly string[]) {
  const list = schemes.map((scheme) => `${scheme}:`).join(", ");
  return text(MAX_URI_LENGTH, 1, hintFor)
    .check((context) => {
      const { value } = context;
      // `text` has refused these already.
      if (value === "" || context.issues.length > 0) return;
      if (!isUri(value, schemes)) {
        refuse(context, "invalid_format", `Must be a full URI with one of the schemes ${list}.`);
      }
    })
    .describe(`URI with one of the schemes ${list}.`);
}

function hintFor(uri: string): string {
  return /^data:/i.test(uri) ? ` ${UPLOAD_INSTEAD}` : "";
}

/** `{id}` may stand anywhere behind the scheme, so the rest is not parsed as a URL. */
function isUri(value: string, schemes: readonly string[]): boolean {
  const [, scheme = "", rest = ""] = /^([a-z]+):([^]*)$/i.exec(value) ?? [];
  if (!schemes.includes(scheme.toLowerCase())) return false;
  return scheme.toLowerCase() === "data" ? rest.includes(",") : /^\/\/[^\s/]/.test(rest);
}
