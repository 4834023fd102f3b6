import { useEffect, useState } from "preact/hooks";

import type { AttributeRow, Values } from "../forms/model/values.ts";
import { Picture } from "../parts/picture.tsx";

interface PreviewProps {
  collection: string;
  /** Address of the collection: decides the drawn picture of a token without one. */
  address: string;
  values: Values;
  /** A picture that was chosen on this computer. */
  file: File | null;
}

/** The token as it will look, while its form is filled in. */
export function PreviewCard({ collection, address, values, file }: PreviewProps) {
  const local = useObjectUrl(file);
  const name = textOf(values["name"]) || "Unnamed token";
  const description = textOf(values["description"]);
  const attributes = (values["attributes"] ?? []) as AttributeRow[];
  const background = textOf(values["background_color"]);
  return (
    <div class="tile preview">
      <div style={/^[0-9a-f]{6}$/i.test(background) ? { background: `#${background}` } : {}}>
        {local === null ? (
          <Picture source={textOf(values["image"]) || null} label={name} seed={`${address} preview`} eager />
        ) : (
          <div class="picture">
            <img src={local} alt={name} />
          </div>
        )}
      </div>
      <div class="tile-text">
        <bdi class="tile-name">{name}</bdi>
        <bdi class="tile-facts">{collection}</bdi>
        {description !== "" && <p class="preview-text">{description}</p>}
        {attributes.length > 0 && (
          <dl class="preview-traits">
            {attributes
              .filter(({ trait, value }) => trait !== "" || value !== "")
              .map(({ trait, value }, index) => (
                <div key={index}>
                  <dt>{trait === "" ? "Property" : trait}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
          </dl>
        )}
        {/\{token_id\}/.test(name + description) && (
          <p class="hint">The id of the token replaces {"{token_id}"} when it is minted.</p>
        )}
      </div>
    </div>
  );
}

function textOf(value: Values[string] | undefined): string {
  return typeof value === "string" ? value.trim() : "";
}

/** An address for a local file, which the browser forgets when it is not shown any more. */
export function useObjectUrl(file: File | null): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (file?.type.startsWith("image/") !== true) {
      setUrl(null);
      return undefined;
    }
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => {
      URL.revokeObjectURL(made);
    };
  }, [file]);
  return url;
}
