import { encode } from "uqr";

/* Loads the library of the QR codes. Only lanes that need funds show such codes. */

/** Squares of free space around the code, which readers need. */
const BORDER = 4;

export interface QrCode {
  /** Squares on each side, with the border. */
  size: number;
  /** Path of an SVG: the dark squares. */
  path: string;
}

export function qrCodeOf(text: string): QrCode {
  const { data, size } = encode(text, { ecc: "M", border: BORDER });
  const squares = data.flatMap((row, y) =>
    row.flatMap((dark, x) => (dark ? [`M${x.toString()} ${y.toString()}h1v1h-1z`] : [])),
  );
  return { size, path: squares.join("") };
}
