// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Erc1155Watch} from "./Erc1155Watch.sol";
import {HostileErc1155Handler} from "./HostileErc1155Handler.sol";
import {ReentrantActor} from "./ReentrantActor.sol";

/// @title HostileErc1155Invariants
/// @notice The rules of {Erc1155Watch} hold whatever holders, receivers, owner and operator do.
contract HostileErc1155Invariants {
    HostileErc1155Handler private _ordinary;
    HostileErc1155Handler private _soulbound;

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

    function _begin(bool soulbound) private returns (HostileErc1155Handler handler) {
        handler = new HostileErc1155Handler(soulbound);
        Erc1155Watch watch = new Erc1155Watch(handler.COLLECTION());
        handler.begin(watch, [new ReentrantActor(watch), new ReentrantActor(watch), new ReentrantActor(watch)]);
    }

    function _require(string memory fault) private pure {
        if (bytes(fault).length != 0) revert Broken(fault);
    }
}
