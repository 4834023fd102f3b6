import { svg } from "./picture.ts";
const GEMS = {
    amethyst: { back: "#efe4fb", top: "#d9b8ff", front: "#a56be8", side: "#7440bd", shade: "#5b2f9c" },
    sapphire: { back: "#dfeafc", top: "#a9ccff", front: "#5590ee", side: "#2f63c4", shade: "#224a98" },
};
export function gem(kind) {
    const { back, top, front, side, shade } = GEMS[kind];
    const shapes = `
    <path fill="${back}" d="M0 0h400v400H0z"/>
    <circle cx="200" cy="200" r="156" fill="#fff" opacity=".55"/>
    <g stroke="#fff" stroke-width="3" stroke-linejoin="round">
      <path d="M120 110h160l60 70-140 140L60 180z" fill="${front}"/>
      <path d="M120 110l-60 70h80zM280 110l60 70h-80z" fill="${side}"/>
      <path d="M120 110h160l-20 70H140z" fill="${top}"/>
      <path d="M60 180h80l60 140z" fill="${shade}"/>
      <path d="M340 180h-80l-60 140z" fill="${side}"/>
    </g>
    <path d="M312 72v36m-18-18h36M82 268v24m-12-12h24" stroke="${front}" stroke-width="6" stroke-linecap="round"/>
  `;
    return { svg: svg(`A cut ${kind}`, shapes), attributes: [{ trait_type: "Stone", value: kind }] };
}
/** The picture of the collection of cats. */
export function paw() {
    const shapes = `
    <path fill="#fbd5c0" d="M0 0h400v400H0z"/>
    <circle cx="200" cy="200" r="150" fill="#fdf1e6"/>
    <g fill="#cb722f">
      <path d="M200 196c52 0 88 52 76 88s-44 18-76 18-64 18-76-18 24-88 76-88z"/>
      <ellipse cx="120" cy="180" rx="24" ry="34" transform="rotate(-24 120 180)"/>
      <ellipse cx="280" cy="180" rx="24" ry="34" transform="rotate(24 280 180)"/>
      <ellipse cx="170" cy="132" rx="25" ry="37" transform="rotate(-7 170 132)"/>
      <ellipse cx="230" cy="132" rx="25" ry="37" transform="rotate(7 230 132)"/>
    </g>
  `;
    return { svg: svg("A paw print", shapes), attributes: [] };
}
