/** A small picture that the tour draws, and what is on it. */
export interface Picture {
  /** Without scripts, fonts and links, so that it looks the same everywhere. */
  svg: string;
  attributes: { trait_type: string; value: string }[];
}

export const SVG_TYPE = "image/svg+xml";
/** The longest URI that the service takes. */
const LONGEST_URI = 2_048;

/** @param title what screen readers say. @param shapes on a square of 400 by 400. */
export function svg(title: string, shapes: string): string {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400" role="img"><title>${title}</title>`;
  return `${head}${shapes.replace(/\s*\n\s*/g, "")}</svg>`;
}

/** The picture as a file, for an upload. */
export function fileOf(picture: Picture): Blob {
  return new Blob([picture.svg], { type: SVG_TYPE });
}

/** The picture as a URI that holds it: no server has to answer when the service copies it. */
export function dataUri(picture: Picture): string {
  const uri = `data:${SVG_TYPE};base64,${Buffer.from(picture.svg).toString("base64")}`;
  if (uri.length > LONGEST_URI) throw new Error(`A picture has a URI of ${uri.length} characters.`);
  return uri;
}
