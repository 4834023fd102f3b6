import { CopyButton } from "../parts/copyable.tsx";
import { WebLink } from "../parts/web-link.tsx";
import { ipfsUrl } from "../service/links.ts";
import type { Token } from "./token.tsx";
import { MAX_TRAIT, traitLink } from "./token-filters.tsx";

/** Attributes of strangers may be many. */
const MOST_SHOWN = 100;
/** So many attributes of a token can be found. */
const MOST_FOUND = 32;

/** The properties of a token. What has another form than `{ trait_type, value }` is shown as JSON. */
export function Attributes({ address, attributes }: { address: string; attributes: unknown }) {
  if (!Array.isArray(attributes) || attributes.length === 0) return null;
  const shown = (attributes as unknown[]).slice(0, MOST_SHOWN);
  return (
    <section class="stack" aria-label="Attributes">
      <h2>Attributes</h2>
      <dl class="attributes">
        {shown.map((attribute, index) => {
          const [name, value] = nameAndValue(attribute);
          const others = index < MOST_FOUND ? linkOf(address, attribute) : null;
          return (
            <div key={index}>
              <dt>
                <bdi>{name}</bdi>
              </dt>
              <dd>
                {others === null ? (
                  <bdi>{value}</bdi>
                ) : (
                  <a href={others} title="Tokens with this trait">
                    <bdi>{value}</bdi>
                  </a>
                )}
              </dd>
            </div>
          );
        })}
      </dl>
      {attributes.length > MOST_SHOWN && (
        <p class="muted">{(attributes.length - MOST_SHOWN).toString()} more are in the metadata below.</p>
      )}
    </section>
  );
}

/** The address of all tokens with an attribute; null when it cannot be found. */
function linkOf(address: string, attribute: unknown): string | null {
  if (typeof attribute !== "object" || attribute === null) return null;
  const { trait_type: type, value } = attribute as { trait_type?: unknown; value?: unknown };
  if (typeof type !== "string" || (typeof value === "object" && value !== null)) return null;
  const text = String(value);
  const isFound = (one: string) => one !== "" && one.length <= MAX_TRAIT && !/\p{Surrogate}/u.test(one);
  return value !== undefined && isFound(type) && isFound(text) ? traitLink(address, type, text) : null;
}

function nameAndValue(attribute: unknown): [name: string, value: string] {
  if (typeof attribute !== "object" || attribute === null) return ["Value", textOf(attribute)];
  const { trait_type: name, value } = attribute as { trait_type?: unknown; value?: unknown };
  return value === undefined ? ["Property", textOf(attribute)] : [textOf(name ?? "Property"), textOf(value)];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The metadata as text, and its address. */
export function Metadata({ token }: { token: Token }) {
  const { metadata, token_uri: uri } = token;
  const text = metadata === null ? null : JSON.stringify(metadata, null, 2);
  return (
    <section class="stack" aria-label="Metadata">
      <h2>Metadata</h2>
      {uri !== null && (
        <p>
          <WebLink address={ipfsUrl(uri) ?? uri}>
            <bdi>{uri}</bdi>
          </WebLink>
        </p>
      )}
      {text === null ? (
        <p class="muted">The service does not host the metadata of this token. It is at the address above.</p>
      ) : (
        <>
          <pre class="long-text" tabIndex={0} aria-label="Metadata as JSON">
            {text}
          </pre>
          <div>
            <CopyButton text={text} what="the metadata" />
          </div>
        </>
      )}
    </section>
  );
}
