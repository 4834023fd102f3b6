const CELLS = 5;

/**
 * A drawn picture for a token that has none: a symmetric pattern from its address and id. The same token always has the same
 * one, in every browser. @property label "" where the name stands beside the picture
 */
export function Placeholder({ seed, label }: { seed: string; label: string }) {
  const bits = hashOf(seed);
  const hue = Number(bits % 360n);
  const cells: { x: number; y: number }[] = [];
  for (let y = 0; y < CELLS; y++) {
    for (let x = 0; x <= (CELLS - 1) / 2; x++) {
      if (((bits >> BigInt(y * 3 + x + 16)) & 1n) === 0n) continue;
      cells.push({ x, y });
      if (x !== CELLS - 1 - x) cells.push({ x: CELLS - 1 - x, y });
    }
  }
  return (
    <svg
      class="placeholder"
      viewBox="0 0 7 7"
      {...(label === "" ? { "aria-hidden": true } : { role: "img", "aria-label": label })}
    >
      <rect width="7" height="7" fill={`hsl(${hue.toString()} 40% 90%)`} />
      {cells.map(({ x, y }) => (
        <rect
          key={`${x.toString()} ${y.toString()}`}
          x={x + 1}
          y={y + 1}
          width="1.02"
          height="1.02"
          fill={`hsl(${hue.toString()} 45% 55%)`}
        />
      ))}
    </svg>
  );
}

/** FNV-1a with 64 bits. */
function hashOf(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  // The low bits of FNV vary little between texts that differ at the end.
  return hash ^ (hash >> 29n);
}
