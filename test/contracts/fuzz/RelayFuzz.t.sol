// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {WalletDelegate} from "../../../contracts/WalletDelegate.sol";
import {IRelay} from "../../../contracts/interfaces/IRelay.sol";
import {CallProbe} from "../../../contracts/mocks/CallProbe.sol";
import {TestSystem} from "../support/TestSystem.sol";

/// @title RelayFuzz
/// @notice Checks the rules of the relay and the wallet delegate for random values.
contract RelayFuzz is TestSystem {
    CallProbe private immutable _PROBE = new CallProbe();

    error Broken(string rule);

    function testFuzz_aNumberRunsOnce(uint256 number, uint256 other) public {
        VM.assume(other != number);
        bytes memory count = abi.encodeCall(CallProbe.count, ());
        _run(number, address(_PROBE), count);
        _run(number, address(_PROBE), count);
        _require(_PROBE.runs(number) == 1 && RELAY.isConsumed(number), "once");
        _require(_PROBE.runs(other) == 0 && !RELAY.isConsumed(other), "no other");
    }

    function testFuzz_aCancelledNumberNeverRuns(uint256 number) public {
        uint256[] memory numbers = new uint256[](1);
        numbers[0] = number;
        RELAY.cancel(numbers);
        _run(number, address(_PROBE), abi.encodeCall(CallProbe.count, ()));
        _require(_PROBE.runs(number) == 0, "cancelled");
    }

    function testFuzz_aBatchDealsWithAPrefixAndNothingElse(uint256[8] memory numbers, uint256 gasForAll) public {
        IRelay.Call[] memory calls = new IRelay.Call[](8);
        for (uint256 i = 0; i < 8; ++i) {
            calls[i] = IRelay.Call(numbers[i], address(_PROBE), 50_000, abi.encodeCall(CallProbe.count, ()));
        }
        (bool success, bytes memory result) = address(RELAY).call{gas: 330_000 + (gasForAll % 700_000)}(
            abi.encodeCall(IRelay.execute, (calls))
        );
        _require(success, "stops cleanly");
        uint256 executed = abi.decode(result, (uint256));
        for (uint256 i = 0; i < 8; ++i) {
            bool reached = false;
            for (uint256 j = 0; j < executed; ++j) {
                if (numbers[j] == numbers[i]) reached = true;
            }
            _require(RELAY.isConsumed(numbers[i]) == reached, "consumed");
            _require(_PROBE.runs(numbers[i]) == (reached ? 1 : 0), "ran");
        }
    }

    function testFuzz_onlyTheRelayReachesTheDelegate(address caller, bytes memory data, bytes32 r, bytes32 vs) public {
        VM.assume(caller != address(RELAY));
        WalletDelegate delegate = new WalletDelegate(address(RELAY));
        VM.prank(caller);
        (bool success, ) = address(delegate).call(
            abi.encodeCall(WalletDelegate.execute, (address(_PROBE), data, r, vs))
        );
        _require(!success, "caller");
    }

    function testFuzz_nobodySignsForTheDelegateItself(bytes memory data, bytes32 r, bytes32 vs, uint256 number) public {
        WalletDelegate delegate = new WalletDelegate(address(RELAY));
        bytes memory count = abi.encodeCall(CallProbe.count, ());
        bytes memory call = abi.encodeCall(WalletDelegate.execute, (address(_PROBE), count, r, vs));
        _run(number, address(delegate), call);
        _require(_PROBE.runs(0) + _PROBE.runs(number) == 0, "no wallet");
        _require(delegate.isValidSignature(keccak256(data), abi.encode(r, vs)) == 0xffffffff, "no signer");
    }

    function _require(bool holds, string memory rule) private pure {
        if (!holds) revert Broken(rule);
    }
}
