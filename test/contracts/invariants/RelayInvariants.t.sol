// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Relay} from "../../../contracts/Relay.sol";
import {CallProbe} from "../../../contracts/mocks/CallProbe.sol";
import {WalletDelegate} from "../../../contracts/WalletDelegate.sol";
import {RelayHandler} from "./RelayHandler.sol";
import {ReentrantTarget} from "./hostile/ReentrantTarget.sol";

/// @title RelayInvariants
/// @notice Rules that hold for the relay after any sequence of batches.
contract RelayInvariants {
    RelayHandler private _handler;

    error Broken(string rule);

    function setUp() public {
        _handler = new RelayHandler();
        Relay relay = _handler.relay();
        _handler.begin(new ReentrantTarget(relay), address(new WalletDelegate(address(relay))));
    }

    /// @dev The test runner calls only these functions.
    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_handler);
    }

    function invariant_everyRule() public view {
        _require(bytes(_handler.fault()).length == 0, _handler.fault());
        CallProbe probe = _handler.PROBE();
        Relay relay = _handler.relay();
        ReentrantTarget target = _handler.target();
        _require(!target.nested(), "nothing runs or cancels numbers inside a batch");
        for (uint256 i = 0; i < _handler.NUMBERS(); ++i) {
            uint256 number = _handler.numberAt(i);
            RelayHandler.Fate fate = _handler.fateOf(number);
            _require(probe.runs(number) == (fate == RelayHandler.Fate.Ran ? 1 : 0), "a number runs at most once");
            bool reentrant = fate == RelayHandler.Fate.RanReentrant;
            _require(target.runs(number) == (reentrant ? 1 : 0), "a number runs at most once, whatever calls back");
            _require(relay.isConsumed(number) == (fate != RelayHandler.Fate.Open), "what is dealt with is consumed");
        }
        _require(!relay.executing(), "no batch is running");
    }

    function _require(bool holds, string memory rule) private pure {
        if (!holds) revert Broken(rule);
    }
}
