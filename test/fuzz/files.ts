import fc from "fast-check";

/* Bodies of uploads. */

/** Types that files often have. */
export const fileType = fc.constantFrom<(string | null)[]>(
  null,
  "application/octet-stream",
  "image/png",
  "image/svg+xml",
  "text/plain",
);

/** The first bytes of some file formats, and any bytes after them. */
export const fileBody = fc.oneof(
  { weight: 1, arbitrary: fc.constant<string | null>(null) },
  {
    weight: 10,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          "",
          "\x89PNG\r\n\x1a\n",
          "GIF89a",
          "\xff\xd8\xff\xe0",
          "<svg ",
          "RIFF",
          "PK\x03\x04",
          "\xff\xfe",
        ),
        fc.array(fc.integer({ min: 0, max: 0xff }), { maxLength: 5_000 }),
      )
      .map(([start, codes]) => start + String.fromCharCode(...codes)),
  },
);
