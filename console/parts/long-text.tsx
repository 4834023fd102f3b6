/** A text of any length in a box that scrolls, also by the keyboard. */
export function LongText({ label, text }: { label: string; text: string }) {
  return (
    <div class="long-text" role="group" aria-label={label} tabIndex={0}>
      <bdi>{text}</bdi>
    </div>
  );
}
