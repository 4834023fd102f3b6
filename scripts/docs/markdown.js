/** A table in Markdown. */
export function markdownTable(head, rows) {
    const lines = [head, ...rows].map((cells) => `| ${cells.join(" | ")} |`);
    return lines.toSpliced(1, 0, `|${"---|".repeat(head.length)}`).join("\n");
}
