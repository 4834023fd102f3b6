/** What a screen gets: the named parts of its path. */
export interface ScreenProps<Names extends string = never> {
  params: Record<Names, string>;
}

/** The address of a screen: `href("/collections/:address", { address })`. */
export function href(path: string, parts: Record<string, string | number> = {}): string {
  return `#${path.replace(/:([a-z_]+)/g, (whole, name: string) =>
    name in parts ? encodeURIComponent(String(parts[name])) : whole,
  )}`;
}
