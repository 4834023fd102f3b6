import { svg } from "./picture.ts";
/** The sky behind the cat, the light in it, the hill, and the collar that stands out against them. */
const SKIES = [
    { name: "dawn", sky: "#fbd5c0", light: "#fdf1e6", hill: "#efb39a", collar: "#3f8f8b" },
    { name: "noon", sky: "#bde3ec", light: "#f1fbfa", hill: "#8fc7b4", collar: "#e0604f" },
    { name: "dusk", sky: "#cbc2ee", light: "#f8dcec", hill: "#a393d6", collar: "#d9577f" },
    { name: "night", sky: "#2b3763", light: "#f4e8ba", hill: "#3f4f86", collar: "#e0604f" },
];
/** The fur, its markings, and a colour of shut eyes that is visible on it. */
const COATS = [
    { name: "ginger", fur: "#ec9a52", mark: "#cb722f", eyelid: "#3a2430" },
    { name: "ink", fur: "#454b5f", mark: "#2c3140", eyelid: "#f0e6cf" },
    { name: "cream", fur: "#f8ebd6", mark: "#e0c298", eyelid: "#3a2430" },
    { name: "slate", fur: "#98a4b5", mark: "#717e91", eyelid: "#262a3a" },
    { name: "cocoa", fur: "#94684f", mark: "#6d4936", eyelid: "#2a1a1c" },
];
const STRIPES = "M200 138v38M174 142l6 28M226 142l-6 28M104 226h26M296 226h-26M112 252l22-6M288 252l-22-6";
const MASK = "M200 150q-96-16-97 72 40 44 84 8l13-40 13 40q44 36 84-8-1-88-97-72z";
const PATCH = "M206 137q92 2 92 88-42 42-84 6-26-46-8-94z";
const WHISKERS = "M154 254l-56-8m56 18l-54 8m146-18l56-8m-56 18l54 8";
const EAR = "M108 208l4-96q2-16 16-6l62 52z";
const PATTERNS = [
    { name: "plain", draw: () => "" },
    {
        name: "tabby",
        draw: (mark) => `<path d="${STRIPES}" fill="none" stroke="${mark}" stroke-width="11" stroke-linecap="round"/>`,
    },
    { name: "masked", draw: (mark) => `<path d="${MASK}" fill="${mark}"/>` },
    { name: "patched", draw: (mark) => `<path d="${PATCH}" fill="${mark}"/>` },
];
const GAZES = [
    { name: "curious", draw: () => open(162) + open(238) },
    { name: "content", draw: (eyelid) => shut(162, eyelid) + shut(238, eyelid) },
    { name: "winking", draw: (eyelid) => open(162) + shut(238, eyelid) },
];
/** The tour mints so many cats. No two of them look the same. */
export const CATS = 12;
/** Draws the cat with this number, counted from 0. The same number always gives the same picture. */
export function cat(number) {
    const { name: time, sky, light, hill, collar } = pick(SKIES, number);
    const { name: coat, fur, mark, eyelid } = pick(COATS, number);
    // Every fourth cat has the same sky. The further step keeps it from having the same pattern too.
    const pattern = pick(PATTERNS, number + Math.floor(number / SKIES.length));
    const gaze = pick(GAZES, number);
    const shapes = `
    <path fill="${sky}" d="M0 0h400v400H0z"/>
    <circle cx="300" cy="96" r="52" fill="${light}"/>
    <path d="M0 300q110-70 220-24t180-18v142H0z" fill="${hill}"/>
    <g fill="${fur}">
      <path d="M84 400q2-128 116-128t116 128z"/>
      <path d="${EAR}"/>
      <path d="${EAR}" transform="matrix(-1 0 0 1 400 0)"/>
    </g>
    <path d="M136 290q64 36 128 0" fill="none" stroke="${collar}" stroke-width="13" stroke-linecap="round"/>
    <circle cx="200" cy="320" r="11" fill="#f7cf5b"/>
    <ellipse cx="200" cy="222" rx="100" ry="84" fill="${fur}"/>
    <path d="M125 168l4-42 34 28zM275 168l-4-42-34 28z" fill="#f2a7a0"/>
    ${pattern.draw(mark)}
    ${gaze.draw(eyelid)}
    <path d="M200 236q40 0 40 24t-40 24-40-24 40-24z" fill="#fffaf2"/>
    <path d="M188 240h24l-12 12z" fill="#e5787d"/>
    <path d="M200 252v8m-16 2q8 12 16-2 8 14 16 2${WHISKERS}" fill="none" stroke="#3a3344" stroke-width="3"/>
  `;
    const traits = { Coat: coat, Pattern: pattern.name, Gaze: gaze.name, Sky: time };
    return {
        svg: svg(`A ${coat} cat, ${pattern.name}, at ${time}`, shapes),
        attributes: Object.entries(traits).map(([trait_type, value]) => ({ trait_type, value })),
    };
}
function open(x) {
    return `
    <circle cx="${x}" cy="206" r="19" fill="#ffefb3"/>
    <ellipse cx="${x}" cy="206" rx="8" ry="15" fill="#211d2b"/>
    <circle cx="${x + 4}" cy="199" r="4" fill="#fff"/>
  `;
}
function shut(x, eyelid) {
    return `<path d="M${x - 18} 204q18 18 36 0" fill="none" stroke="${eyelid}" stroke-width="6" stroke-linecap="round"/>`;
}
function pick(list, index) {
    return list[index % list.length];
}
