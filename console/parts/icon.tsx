/** The file with the mark and all icons. The service's other pages use it, too. */
const FILE = "../docs/icon.svg";

/** @property name of a symbol in api/v1/public/icon.svg */
export function Icon({ name }: { name: string }) {
  return (
    <svg class="icon" aria-hidden="true">
      <use href={`${FILE}#${name}`} />
    </svg>
  );
}
