import { expect } from "chai";

import { parseSettings } from "../../../api/config/settings.ts";
import { problemsOf } from "./support/problems-of.ts";

describe("RETIRED_LANES", () => {
  it("uses other lanes in the place of retired ones", () => {
    expect(parseSettings({ LANES: "3", RETIRED_LANES: "0, 2" }).lanes).to.deep.equal([1, 3, 4]);
    expect(parseSettings({ LANES: "63", RETIRED_LANES: "5" }).lanes).to.have.length(63);
    expect(problemsOf({ LANES: "64", RETIRED_LANES: "5" })).to.deep.equal([
      "LANES: must be at most 63, because RETIRED_LANES names 1 lane",
    ]);
    for (const wrong of ["64", "one", "-1"]) {
      expect(problemsOf({ RETIRED_LANES: wrong })[0], wrong).to.match(
        /^RETIRED_LANES: must be whole numbers from 0 to 63/,
      );
    }
  });
});
