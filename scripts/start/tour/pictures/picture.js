export const SVG_TYPE = "image/svg+xml";
/** The longest URI that a service with the usual settings takes (MAX_URI_LENGTH). */
const LONGEST_URI = 2_048;
/** @param title what screen readers say. @param shapes on a square of 400 by 400. */
export function svg(title, shapes) {
    const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400" role="img"><title>${title}</title>`;
    return `${head}${shapes.replace(/\s*\n\s*/g, "")}</svg>`;
}
/** The picture as a file, for an upload. */
export function fileOf(picture) {
    return new Blob([picture.svg], { type: SVG_TYPE });
}
/** The picture as a URI that holds it: no server has to answer when the service copies it. */
export function dataUri(picture) {
    const uri = `data:${SVG_TYPE};base64,${Buffer.from(picture.svg).toString("base64")}`;
    if (uri.length > LONGEST_URI)
        throw new Error(`A picture has a URI of ${uri.length} characters.`);
    return uri;
}
