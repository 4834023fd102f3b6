// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC1155Collection} from "../../../contracts/ERC1155Collection.sol";
import {TestSystem} from "../support/TestSystem.sol";

/// @title Erc1155Handler
/// @notice Makes random calls to an ERC1155 collection and updates a model of its expected state.
contract Erc1155Handler is TestSystem {
    uint256 public constant IDS = 3;

    ERC1155Collection public immutable COLLECTION;

    mapping(uint256 id => mapping(address holder => uint256)) public balanceOf;
    mapping(uint256 id => uint256) public supplyOf;
    mapping(uint256 id => bool) public created;
    mapping(uint256 id => bytes32) public frozenURI;
    /// @notice Whether the owner has replaced the base URI.
    bool public edited;
    bool public frozen;

    /// @notice Describes where the collection differed from the model. Must stay empty.
    string public fault;

    bytes private _lastAuthorization;
    uint256 private _lastAuthorizationNumber;

    constructor() {
        COLLECTION = _createErc1155();
    }

    function create(uint256 id, uint256 receiver, uint256 amount, string calldata uri) external {
        id %= IDS;
        address to = _walletOf(receiver);
        amount = _amount(amount);
        _run(address(COLLECTION), abi.encodeCall(ERC1155Collection.create, (to, id, amount, uri)));
        if (created[id] || amount > type(uint128).max) return;
        created[id] = true;
        _add(id, to, amount);
        if (frozen) frozenURI[id] = keccak256(bytes(COLLECTION.uri(id)));
    }

    function mint(uint256 id, uint256 receiver, uint256 amount) external {
        id %= IDS;
        address to = _walletOf(receiver);
        amount = _amount(amount);
        _run(address(COLLECTION), abi.encodeCall(ERC1155Collection.mint, (to, id, amount)));
        if (created[id] && amount <= type(uint128).max - supplyOf[id]) _add(id, to, amount);
    }

    function burn(uint256 id, uint256 holder, uint256 callerSeed, uint256 amount) external {
        id %= IDS;
        address from = _walletOf(holder);
        address caller = _walletOf(callerSeed);
        amount = _part(amount, balanceOf[id][from]);
        VM.prank(caller);
        (bool success, ) = address(COLLECTION).call(abi.encodeCall(ERC1155Collection.burn, (from, id, amount)));
        if (success != (caller == from && amount <= balanceOf[id][from])) fault = "burn";
        if (success) _take(id, from, amount);
    }

    function burnBatch(uint256 holder, uint256 first, uint256 second, uint256 third) external {
        address from = _walletOf(holder);
        uint256[] memory ids = new uint256[](3);
        uint256[] memory amounts = new uint256[](3);
        // The same id twice.
        (ids[0], ids[1], ids[2]) = (0, 1, 0);
        (amounts[0], amounts[1], amounts[2]) = (first % 50, second % 50, third % 50);
        VM.prank(from);
        (bool success, ) = address(COLLECTION).call(abi.encodeCall(ERC1155Collection.burnBatch, (from, ids, amounts)));
        bool enough = balanceOf[0][from] >= amounts[0] + amounts[2] && balanceOf[1][from] >= amounts[1];
        if (success != enough) fault = "burnBatch";
        if (!success) return;
        for (uint256 i = 0; i < 3; ++i) _take(ids[i], from, amounts[i]);
    }

    function transferDirectly(
        uint256 id,
        uint256 holder,
        uint256 callerSeed,
        uint256 receiver,
        uint256 amount
    ) external {
        id %= IDS;
        address from = _walletOf(holder);
        address caller = _walletOf(callerSeed);
        address to = _walletOf(receiver);
        amount = _part(amount, balanceOf[id][from]);
        bytes4 selector = bytes4(keccak256("safeTransferFrom(address,address,uint256,uint256,bytes)"));
        VM.prank(caller);
        (bool success, ) = address(COLLECTION).call(abi.encodeWithSelector(selector, from, to, id, amount, ""));
        if (success != (caller == from && amount <= balanceOf[id][from])) fault = "transfer";
        if (success) _move(id, from, to, amount);
    }

    function authorize(uint256 id, uint256 holder, uint256 signer, uint256 receiver, uint256 amount) external {
        id %= IDS;
        address from = _walletOf(holder);
        address to = _walletOf(receiver);
        amount = _part(amount, balanceOf[id][from]);
        uint256 number = _nextNumber();
        (bytes32 r, bytes32 vs) = _signTransfer(_keyOf(signer), address(COLLECTION), to, id, amount, number);
        bytes memory data = abi.encodeCall(ERC1155Collection.transferWithAuthorization, (from, to, id, amount, r, vs));
        (_lastAuthorization, _lastAuthorizationNumber) = (data, number);
        _run(number, address(COLLECTION), data);
        if (_walletOf(signer) == from && amount <= balanceOf[id][from]) _move(id, from, to, amount);
    }

    function authorizeBurn(uint256 id, uint256 holder, uint256 signer, uint256 amount) external {
        id %= IDS;
        address from = _walletOf(holder);
        amount = _part(amount, balanceOf[id][from]);
        uint256 number = _nextNumber();
        (bytes32 r, bytes32 vs) = _signBurn(_keyOf(signer), address(COLLECTION), id, amount, number);
        bytes memory data = abi.encodeCall(ERC1155Collection.burnWithAuthorization, (from, id, amount, r, vs));
        (_lastAuthorization, _lastAuthorizationNumber) = (data, number);
        _run(number, address(COLLECTION), data);
        if (_walletOf(signer) == from && amount <= balanceOf[id][from]) _take(id, from, amount);
    }

    function replay(bool sameNumber) external {
        if (_lastAuthorization.length == 0) return;
        _run(sameNumber ? _lastAuthorizationNumber : _nextNumber(), address(COLLECTION), _lastAuthorization);
    }

    /// @notice The service tries to take copies. It controls the relay's address and the calldata.
    function serviceAttack(uint256 id, uint256 holder, uint256 receiver, uint256 kind, bytes32 r, bytes32 vs) external {
        id %= IDS;
        address from = _walletOf(holder);
        address to = _walletOf(receiver);
        bytes[5] memory attacks = [
            abi.encodeCall(ERC1155Collection.burnWithAuthorization, (from, id, 1, r, vs)),
            abi.encodeCall(ERC1155Collection.transferWithAuthorization, (from, to, id, 1, r, vs)),
            abi.encodeWithSignature("safeTransferFrom(address,address,uint256,uint256,bytes)", from, to, id, 1, ""),
            abi.encodeWithSignature("burn(address,uint256,uint256)", from, id, 1),
            abi.encodeWithSignature("setApprovalForAll(address,bool)", to, true)
        ];
        _run(address(COLLECTION), attacks[kind % attacks.length]);
    }

    function changeMetadata(uint256 id, string calldata uri, uint256 kind, uint256 dice) external {
        id %= IDS;
        bytes[4] memory changes = [
            abi.encodeWithSignature("setBaseURI(string)", uri),
            abi.encodeWithSignature("setTokenURI(uint256,string)", id, uri),
            abi.encodeWithSignature("freezeMetadata()"),
            abi.encodeWithSignature("freezeMetadataAt(string,string)", uri, uri)
        ];
        kind %= 4;
        if (kind > 1 && dice % 3 == 0) kind = 1;
        (bool success, ) = address(COLLECTION).call(changes[kind]);
        // The service must never replace a URI that the owner set for the whole collection.
        if (success != (!frozen && (kind != 1 || created[id]) && (kind != 3 || !edited))) fault = "metadata";
        if (kind == 0 && success) edited = true;
        if (kind > 1 && success) {
            frozen = true;
            for (uint256 i = 0; i < IDS; ++i) {
                if (created[i]) frozenURI[i] = keccak256(bytes(COLLECTION.uri(i)));
            }
        }
        RELAY.setHostedBaseURI(uri);
    }

    function walletAt(uint256 index) external pure returns (address) {
        return _walletOf(index);
    }

    function walletCount() external pure returns (uint256) {
        return WALLETS;
    }

    function _add(uint256 id, address to, uint256 amount) private {
        supplyOf[id] += amount;
        balanceOf[id][to] += amount;
    }

    function _take(uint256 id, address from, uint256 amount) private {
        supplyOf[id] -= amount;
        balanceOf[id][from] -= amount;
    }

    function _move(uint256 id, address from, address to, uint256 amount) private {
        balanceOf[id][from] -= amount;
        balanceOf[id][to] += amount;
    }

    /// @dev Returns a small amount in most cases, sometimes one near the limit, sometimes any.
    function _amount(uint256 seed) private pure returns (uint256) {
        if (seed % 8 == 0) return uint256(type(uint128).max) - (seed % 64) + 1;
        return seed % 8 == 1 ? seed : seed % 100;
    }

    /// @dev Returns at most the available amount in most cases, sometimes more.
    function _part(uint256 seed, uint256 whole) private pure returns (uint256) {
        return seed % (whole + 1 + whole / 4 + 1);
    }
}
