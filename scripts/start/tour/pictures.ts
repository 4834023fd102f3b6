/** A small picture that the tour draws, and what is on it. */
export interface Picture {
  /** Without scripts, fonts and links, so that it looks the same everywhere. */
  svg: string;
  attributes: { trait_type: string; value: string }[];
}

export const SVG_TYPE = "image/svg+xml";

/** The tour mints so many cats. No two of them look the same. */
export const CATS = 12;

const SKIES = [
  { name: "dawn", sky: "#fbd5c0", light: "#fdf1e6", hill: "#efb39a" },
  { name: "noon", sky: "#bde3ec", light: "#f1fbfa", hill: "#8fc7b4" },
  { name: "dusk", sky: "#cbc2ee", light: "#f8dcec", hill: "#a393d6" },
  { name: "night", sky: "#2b3763", light: "#f4e8ba", hill: "#3f4f86" },
] as const;
const COATS = [
  { name: "ginger", fur: "#ec9a52" },
  { name: "cream", fur: "#f8ebd6" },
  { name: "slate", fur: "#98a4b5" },
] as const;
const EAR = "M108 208l4-96q2-16 16-6l62 52z";

/** Draws the cat with this number, counted from 0. The same number always gives the same picture. */
export function cat(number: number): Picture {
  const { name: time, sky, light, hill } = SKIES[number % SKIES.length] ?? SKIES[0];
  const { name: coat, fur } = COATS[number % COATS.length] ?? COATS[0];
  const shapes = `
    <path fill="${sky}" d="M0 0h400v400H0z"/>
    <circle cx="300" cy="96" r="52" fill="${light}"/>
    <path d="M0 300q110-70 220-24t180-18v142H0z" fill="${hill}"/>
    <g fill="${fur}">
      <path d="M84 400q2-128 116-128t116 128z"/>
      <path d="${EAR}"/>
      <path d="${EAR}" transform="matrix(-1 0 0 1 400 0)"/>
    </g>
    <ellipse cx="200" cy="222" rx="100" ry="84" fill="${fur}"/>
    <path d="M125 168l4-42 34 28zM275 168l-4-42-34 28zM188 240h24l-12 12z" fill="#f2a7a0"/>
    ${eye(162)}${eye(238)}
    <path d="M200 252v8m-16 2q8 12 16-2 8 14 16 2" fill="none" stroke="#3a3344" stroke-width="3"/>
  `;
  return picture(`A ${coat} cat at ${time}`, shapes, { Coat: coat, Sky: time });
}

function eye(x: number): string {
  return `<circle cx="${x}" cy="206" r="19" fill="#ffefb3"/><ellipse cx="${x}" cy="206" rx="8" ry="15" fill="#211d2b"/>`;
}

export function gem(): Picture {
  const shapes = `
    <path fill="#efe4fb" d="M0 0h400v400H0z"/>
    <g stroke="#fff" stroke-width="3" stroke-linejoin="round">
      <path d="M120 110h160l60 70-140 140L60 180z" fill="#a56be8"/>
      <path d="M120 110l-60 70h80zM280 110l60 70h-80z" fill="#7440bd"/>
      <path d="M120 110h160l-20 70H140z" fill="#d9b8ff"/>
      <path d="M60 180h80l60 140z" fill="#5b2f9c"/>
    </g>
  `;
  return picture("A cut amethyst", shapes, { Stone: "amethyst" });
}

/** @param title what screen readers say. @param shapes on a square of 400 by 400. */
function picture(title: string, shapes: string, traits: Record<string, string>): Picture {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400" role="img"><title>${title}</title>`;
  return {
    svg: `${head}${shapes.replace(/\s*\n\s*/g, "")}</svg>`,
    attributes: Object.entries(traits).map(([trait_type, value]) => ({ trait_type, value })),
  };
}

/** The picture as a URI that holds it: no server has to answer when the service copies it. */
export function dataUri({ svg }: Picture): string {
  return `data:${SVG_TYPE};base64,${Buffer.from(svg).toString("base64")}`;
}
