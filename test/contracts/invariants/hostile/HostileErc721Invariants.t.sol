// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Erc721Watch} from "./Erc721Watch.sol";
import {HostileErc721Handler} from "./HostileErc721Handler.sol";
import {ReentrantActor} from "./ReentrantActor.sol";

/// @title HostileErc721Invariants
/// @notice The rules of {Erc721Watch} hold whatever holders, receivers, owner and operator do.
contract HostileErc721Invariants {
    HostileErc721Handler private _ordinary;
    HostileErc721Handler private _soulbound;

    error Broken(string rule);

    function setUp() public {
        _ordinary = _begin(false);
        _soulbound = _begin(true);
    }

    /// @dev The test runner calls only these functions.
    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](2);
        (targets[0], targets[1]) = (address(_ordinary), address(_soulbound));
    }

    /// @notice Every call compares the whole state, so more runs would take hours.
    /// hardhat-config: invariant.runs = 40
    /// hardhat-config: invariant.depth = 150
    function invariant_everyRule() public view {
        _require(_ordinary.fault());
        _require(_soulbound.fault());
    }

    function _newHandler(bool soulbound) internal virtual returns (HostileErc721Handler) {
        return new HostileErc721Handler(soulbound);
    }

    function _begin(bool soulbound) private returns (HostileErc721Handler handler) {
        handler = _newHandler(soulbound);
        Erc721Watch watch = new Erc721Watch(handler.COLLECTION());
        handler.begin(watch, [new ReentrantActor(watch), new ReentrantActor(watch), new ReentrantActor(watch)]);
    }

    function _require(string memory fault) private pure {
        if (bytes(fault).length != 0) revert Broken(fault);
    }
}
