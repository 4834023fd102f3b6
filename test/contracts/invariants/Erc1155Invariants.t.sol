// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC1155Collection} from "../../../contracts/ERC1155Collection.sol";
import {Erc1155Handler} from "./Erc1155Handler.sol";

/// @title Erc1155Invariants
/// @notice Rules that hold for an ERC1155 collection after any sequence of calls.
contract Erc1155Invariants {
    Erc1155Handler private _handler;
    ERC1155Collection private _collection;

    error Broken(string rule);

    function setUp() public {
        _handler = new Erc1155Handler();
        _collection = _handler.COLLECTION();
    }

    /// @dev The test runner calls only these functions.
    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_handler);
    }

    function invariant_everyRule() public view {
        _require(bytes(_handler.fault()).length == 0, _handler.fault());
        for (uint256 id = 0; id < _handler.IDS(); ++id) {
            uint256 sum = 0;
            for (uint256 i = 0; i < _handler.walletCount(); ++i) {
                address wallet = _handler.walletAt(i);
                uint256 balance = _collection.balanceOf(wallet, id);
                _require(balance == _handler.balanceOf(id, wallet), "copies move only with consent");
                sum += balance;
            }
            _require(_collection.totalSupply(id) == sum, "the supply is the sum of the balances");
            _require(sum == _handler.supplyOf(id), "the supply is minted minus burnt");
            _require(sum <= type(uint128).max, "the supply is within its limit");
            _require(_collection.exists(id) == _handler.created(id), "an id is created once and stays");
            bytes32 uri = _handler.frozenURI(id);
            _require(uri == 0 || uri == keccak256(bytes(_collection.uri(id))), "a frozen URI stays");
        }
    }

    function _require(bool holds, string memory rule) private pure {
        if (!holds) revert Broken(rule);
    }
}
