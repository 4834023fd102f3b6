/** Where one of several programs that run at the same time prints. */
export interface Output {
  write(text: string): void;
  /** Nothing more comes. */
  end(): void;
}

/**
 * Outputs that do not mix: all that the first one gets comes before all that the second one gets, and so on. The first one
 * that has not ended prints at once, so that people see progress; the others are kept until it is their turn.
 */
export function inOrder(count: number, print: (text: string) => void): Output[] {
  const kept = Array.from({ length: count }, () => ({ text: "", ended: false }));
  let printing = 0;
  function flush(): void {
    for (let current = kept[printing]; current !== undefined; current = kept[++printing]) {
      if (current.text !== "") print(current.text);
      current.text = "";
      if (!current.ended) return;
    }
  }
  return kept.map((own) => ({
    write: (text) => {
      own.text += text;
      flush();
    },
    end: () => {
      own.ended = true;
      flush();
    },
  }));
}
