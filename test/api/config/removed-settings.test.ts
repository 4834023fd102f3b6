import { expect } from "chai";

import { describeSettings } from "../../../api/cli/settings.ts";
import { REMOVED_SETTINGS, removedSettings } from "../../../api/config/removed-settings.ts";
import { type Environment, parseSettings, pickSettings, SettingsError } from "../../../api/config/settings.ts";
import { HARMLESS, REFUSED } from "../../support/removed-settings.ts";
import { useService } from "../../support/use-service.ts";
import { runCli } from "../cli/support/run.ts";

describe("removed settings", () => {
  const moneta = useService({ start: false });

  it("are no settings any more, and each is named once", () => {
    const names = REMOVED_SETTINGS.map(({ variable }) => variable);
    expect(new Set(names).size).to.equal(names.length);
    const known: string[] = describeSettings().map(({ variable }) => variable);
    expect(names.filter((name) => known.includes(name))).to.deep.equal([]);
    const refused = REMOVED_SETTINGS.flatMap(({ variable, refused }) => (refused === undefined ? [] : [variable]));
    expect(Object.keys(REFUSED)).to.deep.equal(refused);
  });

  it("refuse the start, and every command, with a value that kept more or limited more", () => {
    for (const [variable, value] of Object.entries(REFUSED)) {
      const { now, refused } = REMOVED_SETTINGS.find((setting) => setting.variable === variable)!;
      for (const parse of [parseSettings, (env: Environment) => pickSettings(env, "dataDir")]) {
        expect(() => parse({ [variable]: value }), variable)
          .to.throw(SettingsError)
          .with.property("problems")
          .that.deep.equals([
            `${variable}: removed in 0.4.0. ${now} ${refused!.because ?? "The value of this setting was stricter."} ${refused!.instead} Then remove this setting.`,
          ]);
      }
    }
  });

  it("keep rows as long as before: a longer RETAIN_... is refused until RETAIN_DAYS or RETAIN_FAILED_DAYS is as long", () => {
    for (const [variable, setting, fallback] of [
      ["RETAIN_TEST_EVENTS_DAYS", "RETAIN_DAYS", 30],
      ["RETAIN_API_TOKENS_DAYS", "RETAIN_FAILED_DAYS", 365],
    ] as const) {
      const problem = (env: Record<string, string>) => removedSettings(env).errors.join();
      expect(problem({ [variable]: fallback.toString() })).to.equal("");
      expect(problem({ [variable]: (fallback + 1).toString() })).to.contain(`Set ${setting} to at least as many days`);
      expect(problem({ [variable]: "forever" })).to.contain(`Set ${setting}`);
      expect(problem({ [variable]: "forever", [setting]: "36500" })).to.contain(`Set ${setting}`);
      for (const long of ["500", "forever"]) expect(problem({ [variable]: "500", [setting]: long })).to.equal("");
      expect(problem({ [variable]: "8", [setting]: "7" })).to.contain(`Set ${setting}`);
    }
    expect(removedSettings({ RETAIN_IDEMPOTENCY_KEYS_DAYS: "30" }).errors).to.deep.equal([]);
  });

  it("are ignored when blank, or with another value", () => {
    const blank = Object.fromEntries(REMOVED_SETTINGS.map(({ variable }) => [variable, " "]));
    for (const env of [blank, HARMLESS]) expect(parseSettings(env)).to.deep.equal(parseSettings({}));
  });

  it("end a start at which they would be missed, with one error that names all of them", async () => {
    const process = moneta.spawn(REFUSED);
    expect(await process.gone()).to.equal(1);
    for (const variable of Object.keys(REFUSED)) expect(process.output).to.contain(`- ${variable}: removed in 0.4.0.`);
  });

  it("otherwise are warnings of the start, of each command, and of doctor", async () => {
    const process = await moneta.startProcess(HARMLESS);
    const { remarks, output } = await runCli({ ...moneta.env, ...HARMLESS }, "doctor");
    for (const variable of Object.keys(HARMLESS)) {
      expect(process.output).to.contain(`"msg":"${variable}: removed in 0.4.0, and has no effect.`);
      expect(remarks).to.contain(`${variable}: removed in 0.4.0, and has no effect.`);
      expect(output).to.match(new RegExp(`^warning +settings +${variable}: removed in 0.4.0`, "m"));
    }
    await process.end("SIGTERM");
  });
});
